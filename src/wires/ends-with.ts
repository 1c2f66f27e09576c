export function endsWith(bytes: Buffer, ending: Buffer): boolean {
  return bytes.length >= ending.length && bytes.subarray(-ending.length).equals(ending)
}
