/** Whether a path fits a route's pattern, parameters written as `:id`. For telling 405 from 404; not the router. */
export function matchPath(pattern: string, path: string): boolean {
  const expected = pattern.split('/')
  const given = path.split('/')
  return (
    expected.length === given.length &&
    expected.every((segment, index) =>
      segment.startsWith(':') ? given[index] !== '' : segment === given[index],
    )
  )
}
