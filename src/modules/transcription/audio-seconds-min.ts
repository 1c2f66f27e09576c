/** Headers, tags and tables that a file may have beside its audio. */
const DESCRIPTION_BYTES = 64 * 1024

/** Returns the minimum duration of a file of this size if its audio has at most this bit rate, whatever the header declares. */
export function audioSecondsMin(fileBytes: number, bitsPerSecondMax: number): number {
  return secondsOfAudio(Math.max(0, fileBytes - DESCRIPTION_BYTES), bitsPerSecondMax)
}

/** The same for bytes that are audio only. */
export function secondsOfAudio(bytes: number, bitsPerSecondMax: number): number {
  return (bytes * 8) / bitsPerSecondMax
}

/** The highest bit rate of each format. Encoders do not exceed it, so the number of bytes gives a minimum duration. */
export const BITS_PER_SECOND_MAX = {
  /** 192 kHz, eight channels, 32 bits. */
  uncompressed: 192_000 * 8 * 32,
  /** Layer I of MPEG-1. */
  mpeg: 448_000,
  opus: 510_000,
  vorbis: 500_000,
  speex: 45_000,
  /** AAC with two channels at 96 kHz, and all other lossy codecs. */
  lossy: 1_152_000,
} as const
