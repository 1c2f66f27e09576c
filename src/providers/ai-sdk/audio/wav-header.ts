const HEADER_BYTES = 44
const SAMPLE_BYTES = 2
const PCM = 1
/** What a reader takes for a length that is not known yet. */
const LENGTH_UNKNOWN = 0xffffffff

interface WavFormat {
  readonly sampleRate: number
  readonly channels: number
  /** Of the samples; null while they are still being made. */
  readonly bytes: number | null
}

/** What stands before samples of 16 bits to make a file of them. */
export function writeWavHeader({ sampleRate, channels, bytes }: WavFormat): Uint8Array {
  const header = Buffer.alloc(HEADER_BYTES)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(bytes === null ? LENGTH_UNKNOWN : HEADER_BYTES - 8 + bytes, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(PCM, 20)
  header.writeUInt16LE(channels, 22)
  header.writeUInt32LE(sampleRate, 24)
  header.writeUInt32LE(sampleRate * channels * SAMPLE_BYTES, 28)
  header.writeUInt16LE(channels * SAMPLE_BYTES, 32)
  header.writeUInt16LE(SAMPLE_BYTES * 8, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(bytes ?? LENGTH_UNKNOWN, 40)
  return header
}
