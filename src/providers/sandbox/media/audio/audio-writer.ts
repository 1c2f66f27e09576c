/** Converts samples into a file, piece by piece. */
export interface AudioWriter {
  readonly contentType: string
  begin(): Uint8Array
  /** One array for each channel, with samples between -1 and 1. */
  write(channels: readonly Float32Array[]): Uint8Array
  end(): Uint8Array
}

/** Known before the first sample, because several formats store the length in their header. */
export interface AudioShape {
  readonly sampleRate: number
  readonly channelCount: 1 | 2
  readonly sampleCount: number
  /** Stored in the file's tags. */
  readonly comment: string
}

export const NOTHING = new Uint8Array(0)

/** Converts to 16-bit integers with interleaved channels. */
export function toIntegerSamples(channels: readonly Float32Array[]): Int16Array {
  const count = channels[0]?.length ?? 0
  const samples = new Int16Array(count * channels.length)
  for (const [channel, values] of channels.entries()) {
    for (let index = 0; index < count; index += 1)
      samples[index * channels.length + channel] = Math.round(
        Math.max(-1, Math.min(1, values[index] ?? 0)) * 32_767,
      )
  }
  return samples
}
