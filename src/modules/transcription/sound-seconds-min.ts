/** Heads, tags and tables a file may have beside its sound. */
const DESCRIPTION_BYTES = 64 * 1024

/** What so many bytes must play at least, whatever a head claims, when a second has no more bits than that. */
export function soundSecondsMin(fileBytes: number, bitsPerSecondMax: number): number {
  return (Math.max(0, fileBytes - DESCRIPTION_BYTES) * 8) / bitsPerSecondMax
}
