/** Returns a path of this console, or the first page for anything else: a link must not lead to another site. */
export function ownPath(next: string | undefined): string {
  if (next === undefined || !next.startsWith('/')) return '/'
  const address = new URL(next, location.origin)
  // A path with two slashes at its beginning is the address of another site.
  const isOwn = address.origin === location.origin && !address.pathname.startsWith('//')
  return isOwn ? address.pathname + address.search : '/'
}
