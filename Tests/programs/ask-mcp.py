# SPDX-License-Identifier: MIT
"""ask-mcp.py KURA PROJECT: the calls of the tool mcp-client by the Model Context Protocol's own library, from PyPI."""

import sys

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

CALLS = [("list", {}), ("run", {"command": "show"}), ("run", {"command": "fail"}), ("run", {"command": "key"}),
         ("run", {"argv": ["sh", "-c", "kura get web/shop | rev"], "allow": ["web/shop"]}), ("run", {"argv": "no words"})]


async def main(kura, project):
    server = StdioServerParameters(command=kura, args=["mcp", "--wait=1s"], cwd=project)
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        await session.send_ping()
        print(*(tool.name for tool in (await session.list_tools()).tools))
        for name, arguments in CALLS:
            answer = (await session.call_tool(name, arguments)).model_dump(by_alias=True)
            print("".join(part["text"] for part in answer["content"]).rstrip("\n"))
            if answer["isError"]:
                print("error", answer["structuredContent"]["status"])


anyio.run(main, *sys.argv[1:])
