/** Heads, tags and tables a file may have beside its sound. */
const DESCRIPTION_BYTES = 64 * 1024

/** What so many bytes of a file must play at least, whatever a head claims, when a second has no more bits than that. */
export function soundSecondsMin(fileBytes: number, bitsPerSecondMax: number): number {
  return secondsOfSound(Math.max(0, fileBytes - DESCRIPTION_BYTES), bitsPerSecondMax)
}

/** The same for bytes that are known to be sound. */
export function secondsOfSound(bytes: number, bitsPerSecondMax: number): number {
  return (bytes * 8) / bitsPerSecondMax
}

/** The most bits a second of sound has in each form: no encoder writes more, so that more bytes play for longer. */
export const BITS_PER_SECOND_MAX = {
  /** 192 kHz, eight channels, 32 bits. */
  uncompressed: 192_000 * 8 * 32,
  /** Layer I of MPEG-1. */
  mpeg: 448_000,
  opus: 510_000,
  vorbis: 500_000,
  speex: 45_000,
  /** AAC with two channels at 96 kHz, and every codec with loss that is not named. */
  lossy: 1_152_000,
} as const
