const DAY_LENGTH = 'YYYY-MM-DD'.length

/** The day in UTC of a time in seconds, as lists of the organization have them. */
export function formatDay(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return '-'
  return new Date(seconds * 1000).toISOString().slice(0, DAY_LENGTH)
}
