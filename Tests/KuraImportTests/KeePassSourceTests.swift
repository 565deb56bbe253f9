// SPDX-License-Identifier: MIT

import KuraTerms
import Testing

@testable import KuraImport

/// The XML of KeePass 2 and KeePassXC.
@Suite struct KeePassSourceTests {
  @Test func `entries with all that they have`() throws {
    let bytes = try fixture("keepass.xml")
    let items = try items(bytes, .keepassXML)
    let name = "Example & Co"
    let entry = try #require(items[name])
    #expect(entry.value.text == "k<p> 😀" && entry.history.map(\.text) == ["first", "second"])
    #expect(entry["user"] == "ada" && entry["branch"] == "north" && entry["tags"] == "work, shared")
    #expect(entry["url"] == "https://example.org" && entry["url-2"] == "https://example.net")
    #expect(entry["expires"] == "2027-01-01T00:00:00Z" && entry["PIN"] == nil)
    #expect(entry.created == 1_735_787_045_000 && entry.modified == 1_772_368_200_000)
    #expect(items[name]?.secret("otp")?.hasPrefix("otpauth://") == true)
    #expect(items[name]?.secret("notes") == "line one\nline two")
    #expect(items[name]?.secret("PIN") == "1234")
    #expect(items[name + "/attachments/key.pem"]?.value.text == "-----BEGIN KEY-----\nx\n")
    #expect(items[name + "/attachments/bytes"]?.value == [0, 1, 2, 0xFF])
    #expect(items["Inner-Group/Deep"]?.value == [])
    #expect(items["Recycle Bin/Old"] == nil)
    let left = try leavings(bytes, .keepassXML)
    #expect(items[name]?.secret("OverrideURL") == "cmd://open {URL}")
    #expect(
      left.map(\.field) == [
        "passkey", "lost", "AutoType", "CustomData", "earlier UserName", "", "",
        "group Inner-Group: Notes", "icons",
      ])
    #expect(
      left.map(\.reason) == [
        .remark(.unsupported), .remark(.invalid), .remark(.foreign), .remark(.foreign),
        .remark(.unsupported), .renamed("Inner-Group/Deep"), .remark(.trashed),
        .remark(.unsupported), .remark(.foreign),
      ])
  }

  @Test(
    arguments: [
      (
        "",
        "<IconID>0</IconID><QualityCheck>True</QualityCheck><AutoType><Enabled>True</Enabled><DefaultSequence/></AutoType>",
        []
      ),
      ("", "<AutoType><Association><Window>w</Window></Association></AutoType>", ["AutoType"]),
      ("", "<AutoType><Enabled>False</Enabled></AutoType>", ["AutoType"]),
      ("", "<CustomData><Item><Key>_LAST_MODIFIED</Key><Value>x</Value></Item></CustomData>", []),
      ("", "<OfALaterOne><A/></OfALaterOne><Empty/>", ["OfALaterOne"]),
      (
        "", "<CustomIconUUID>x</CustomIconUUID><ForegroundColor>#000000</ForegroundColor>",
        ["colours", "icons"]
      ),
      ("<IconID>48</IconID><Notes></Notes>", "", []),
      ("<Notes>n</Notes><Tags>t</Tags>", "", ["group g: Notes", "group g: Tags"]),
      (
        "<DefaultAutoTypeSequence>x</DefaultAutoTypeSequence><CustomData><Item><Key>k</Key></Item></CustomData>",
        "",
        ["group g: AutoType", "group g: CustomData"]
      ),
      (
        "",
        "<String><Key>k</Key><Value>1</Value></String><History><Entry><String><Key>k</Key><Value>1</Value></String></Entry></History>",
        []
      ),
      (
        "",
        "<History><Entry><String><Key>k</Key><Value>1</Value></String><Binary><Key>f</Key><Value Ref=\"0\"/></Binary></Entry><Entry><String><Key>k</Key><Value>2</Value></String></Entry></History>",
        ["earlier k", "earlier f"]
      ),
    ])
  func `what has no place is said`(_ group: String, _ entry: String, _ fields: [String]) throws {
    let document =
      "<KeePassFile><Root><Group><Name>g</Name>\(group)<Entry>\(entry)</Entry></Group></Root></KeePassFile>"
    #expect(try leavings(Array(document), .keepassXML).map(\.field) == fields)
  }

  @Test func `what is said of the database is said`() throws {
    let document =
      "<KeePassFile><Meta><DatabaseDescription>d</DatabaseDescription></Meta><Root/></KeePassFile>"
    #expect(try leavings(Array(document), .keepassXML).map(\.field) == ["DatabaseDescription"])
  }

  private static let bomb = """
    <?xml version="1.0"?>
    <!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
    <KeePassFile><Root><Group><Name>&b;</Name></Group></Root></KeePassFile>
    """

  private static let fetching = """
    <!DOCTYPE a SYSTEM "file:///etc/passwd" [<!ENTITY x SYSTEM "file:///etc/passwd">]>
    <KeePassFile><Root><Group><Name>&x;</Name></Group></Root></KeePassFile>
    """

  @Test(arguments: [
    (bomb, ReadingFlaw(.doctype, at: 2)), (fetching, ReadingFlaw(.doctype, at: 1)),
    ("<KeePassFile>\n<Root>", ReadingFlaw(.notXML, at: 2)), ("no XML", ReadingFlaw(.notXML, at: 1)),
    ("<html/>", ReadingFlaw(.member, at: 1, "KeePassFile")),
    (
      "<KeePassFile><Root><Group><Entry><String><Key>Password</Key><Value Protected=\"True\">eA==</Value></String></Entry></Group></Root></KeePassFile>",
      ReadingFlaw(.encrypted, at: 1)
    ),
    (
      "<KeePassFile><Meta><Binaries><Binary ID=\"0\" Compressed=\"True\">AAAA</Binary></Binaries></Meta><Root/></KeePassFile>",
      ReadingFlaw(.packing, at: 1)
    ),
    (String(repeating: "<a>", count: 200), ReadingFlaw(.tooDeep, at: 1)),
  ])
  func `what is no such document, or one that does harm, is refused`(
    _ text: String, _ expected: ReadingFlaw
  ) throws {
    #expect(try flaw(text, .keepassXML) == expected)
  }

  @Test func `times of a database of KDBX 4 are bytes`() throws {
    let text = """
      <KeePassFile><Root><Group><Entry><Times><CreationTime>ZfFZ0A4AAAA=</CreationTime>
      <LastModificationTime>AAAAAAAAAAA=</LastModificationTime><ExpiryTime>gfJZ0A4AAAA=</ExpiryTime>
      <Expires>True</Expires></Times></Entry></Group></Root></KeePassFile>
      """
    let item = try #require(try items(Array(text), .keepassXML).first)
    #expect(item.created == 1_489_500_773_000 && item.modified == 0)
    #expect(item["expires"] == "2017-03-14T14:17:37Z")
  }

  @Test func `nothing unpacks to more than is wanted`() throws {
    // A million zeros, packed by gzip.
    let packed = try fixture("zeros.gz")
    #expect(Inflation.inflate(packed, .gzip, limit: 1_000_000)?.count == 1_000_000)
    #expect(Inflation.inflate(packed, .gzip, limit: 999_999) == nil)
    #expect(Inflation.inflate(Array(packed.dropLast(9)), .gzip, limit: 1_000_000) == nil)
  }
}
