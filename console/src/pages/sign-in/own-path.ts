/** Returns a path of this console, or the first page for anything else: a link must not lead to another site. */
export function ownPath(next: string | undefined): string {
  if (next === undefined || !next.startsWith('/')) return '/'
  const address = new URL(next, location.origin)
  return address.origin === location.origin ? address.pathname + address.search : '/'
}
