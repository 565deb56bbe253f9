# SPDX-License-Identifier: MIT
"""share-folder.py HOME PORT OTHER-HOME OTHER-PORT FOLDER   has the Syncthing in HOME share FOLDER with the one in OTHER-HOME:
on loopback, found by its address alone, and with nobody else told of anything.
"""

import sys
import xml.etree.ElementTree as tree

home, port, other_home, other_port, folder = sys.argv[1:]
path = f"{home}/config.xml"
config = tree.parse(path)
root = config.getroot()
own = root.find("device")
other = tree.parse(f"{other_home}/config.xml").getroot().find("device").get("id")
known = tree.SubElement(root, "device", id=other, name="other", compression="never")
tree.SubElement(known, "address").text = f"tcp://127.0.0.1:{other_port}"
shared = tree.SubElement(
    root, "folder", id="kura", path=folder, type="sendreceive", rescanIntervalS="5", fsWatcherEnabled="true",
    fsWatcherDelayS="1")
tree.SubElement(shared, "filesystemType").text = "basic"
for each in (own.get("id"), other):
    tree.SubElement(shared, "device", id=each, introducedBy="")
root.find("gui").set("enabled", "false")
options = {
    "listenAddress": f"tcp://127.0.0.1:{port}", "globalAnnounceEnabled": "false", "localAnnounceEnabled": "false",
    "relaysEnabled": "false", "natEnabled": "false", "startBrowser": "false", "urAccepted": "-1", "crashReportingEnabled": "false",
    "autoUpgradeIntervalH": "0", "reconnectionIntervalS": "1", "stunKeepaliveStartS": "0",
}
for name, value in options.items():
    root.find("options").find(name).text = value
config.write(path)
