/** Bodies that are expensive to read, of about this many bytes. */
export const WORST_BODIES: Readonly<Record<string, (bytes: number) => string>> = {
  'empty objects': (bytes) => `[${'{},'.repeat(bytes / 3)}{}]`,
  'empty arrays': (bytes) => `[${'[],'.repeat(bytes / 3)}[]]`,
  'nested arrays': (bytes) => `[${`${'['.repeat(90)}${']'.repeat(90)},`.repeat(bytes / 181)}1]`,
  numbers: (bytes) => `[${'1,'.repeat(bytes / 2)}1]`,
  texts: (bytes) => `[${repeat(bytes, (index) => `"${index.toString(36)}",`)}""]`,
  'members of one object': (bytes) => `{${repeat(bytes, (index) => `"k${index.toString(36)}":1,`)}"z":1}`,
  'objects of different members': (bytes) =>
    `[${repeat(bytes, (index) => `{"k${index.toString(36)}":1},`)}{}]`,
  'objects as dense as allowed': (bytes) =>
    `[${repeat(bytes, (index) => `{"k${index.toString(36)}":"aaaaaaa"},`)}{}]`,
  messages: (bytes) =>
    `[${'{"role":"user","content":"hello you"},'.repeat(bytes / 38)}{"role":"user","content":"x"}]`,
  parts: (bytes) =>
    `[{"role":"user","content":[${'{"type":"text","text":"hi"},'.repeat(bytes / 28)}{"type":"text","text":"hi"}]}]`,
  'one text': (bytes) => `"${'a'.repeat(bytes)}"`,
  'one text of words': (bytes) => `"${'hello you '.repeat(bytes / 10)}"`,
  'one text of line ends': (bytes) => `"${String.raw`\n`.repeat(bytes / 2)}"`,
  'one text of quotes': (bytes) => `"${String.raw`\"`.repeat(bytes / 2)}"`,
  'one text of escapes': (bytes) => `"${String.raw`\u4e00`.repeat(bytes / 6)}"`,
  'one text of three-byte characters': (bytes) => `"${'一'.repeat(bytes / 3)}"`,
  spaces: (bytes) => `"a"${' '.repeat(bytes)}`,
  digits: (bytes) => '1'.repeat(bytes),
}

function repeat(bytes: number, partOf: (index: number) => string): string {
  const parts: string[] = []
  for (let index = 0, length = 0; length < bytes; index += 1) {
    const part = partOf(index)
    length += part.length
    parts.push(part)
  }
  return parts.join('')
}
