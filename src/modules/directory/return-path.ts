const LENGTH_MAX = 500
/** No spaces, controls and backslashes, which browsers read as slashes. */
const PLAIN = /^\/[!-[\]-~]*$/
const ORIGIN = 'http://own.invalid'

/** Returns a path of this gateway's console to return to. Anything else, such as an address of another site, becomes its first page. */
export function returnPathOf(text: string | undefined): string {
  if (text === undefined || text.length > LENGTH_MAX || !PLAIN.test(text) || text.startsWith('//')) return '/'
  const url = new URL(text, ORIGIN)
  if (url.origin !== ORIGIN) return '/'
  const path = url.pathname + url.search + url.hash
  // Dots in a path may lead to two slashes, and no page of the console is below the API.
  return path.startsWith('//') || /^\/v1(?:\/|$)/i.test(url.pathname) ? '/' : path
}
