/**
 * An address of the web, as it may stand in a link or a `Location` header. Null for anything else: the parser of URLs takes line
 * ends and letters beyond ASCII, which no header may hold.
 */
export function parseWebAddress(text: string): URL | null {
  const url = PRINTABLE_ASCII.test(text) && URL.canParse(text) ? new URL(text) : null
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : null
}

const PRINTABLE_ASCII = /^[!-~]+$/
