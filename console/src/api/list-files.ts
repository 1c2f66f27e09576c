/** A page of a list that the API also has as a file. */
export function jsonOf<Page extends object>(page: Page | string): Page {
  if (typeof page === 'string') throw new TypeError('a list is a file')
  return page
}

/** Where a list is downloaded as a file of all rows. */
export function fileUrl(path: string, query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries({ ...query, format: 'csv' }).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value]],
  )
  return `${path}?${new URLSearchParams(given)}`
}
