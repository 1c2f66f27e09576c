const HEADER_BYTES = 44
const SAMPLE_BYTES = 2
const PCM = 1
/** Value by which readers recognise an unknown length. */
const LENGTH_UNKNOWN = 0xffffffff

interface WavFormat {
  readonly sampleRate: number
  readonly channels: number
  /** Length of the samples. Null while they are still being generated. */
  readonly bytes: number | null
}

/** Returns the WAV header for 16-bit samples. */
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
