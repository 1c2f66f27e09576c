/**
 * Parses an http or https URL that is safe in a link or a `Location` header. Returns null for anything else. The URL parser alone
 * would accept line breaks and non-ASCII characters, which headers must not contain.
 */
export function parseWebAddress(text: string): URL | null {
  const url = PRINTABLE_ASCII.test(text) && URL.canParse(text) ? new URL(text) : null
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : null
}

const PRINTABLE_ASCII = /^[!-~]+$/
