/** Frame lengths in milliseconds by configuration: speech, hybrid, music. */
const SPEECH_FRAME_MS = [10, 20, 40, 60] as const
const HYBRID_FRAME_MS = [10, 20] as const
const MUSIC_FRAME_MS = [2.5, 5, 10, 20] as const

/** Returns the duration of an Opus packet, from its first two bytes. */
export function opusPacketMs(head: Buffer, length: number): number {
  const [first, second = 0] = head
  if (first === undefined || length === 0) return 0
  const code = first & 3
  const frames = code === 0 ? 1 : code === 3 ? second & 0x3f : 2
  return frames * frameMs(first >> 3)
}

function frameMs(configuration: number): number {
  if (configuration < 12) return SPEECH_FRAME_MS[configuration % 4] ?? 0
  if (configuration < 16) return HYBRID_FRAME_MS[configuration % 2] ?? 0
  return MUSIC_FRAME_MS[configuration % 4] ?? 0
}
