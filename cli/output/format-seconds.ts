/** Formats a duration for people: `8 s`, `2 min 5 s`, `1 h 20 min`. */
export function formatSeconds(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`
}
