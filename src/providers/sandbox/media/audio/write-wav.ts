import { toIntegerSamples, NOTHING, type AudioShape, type AudioWriter } from './audio-writer.ts'

const BYTES_PER_SAMPLE = 2

export function createWavWriter(shape: AudioShape): AudioWriter {
  return { ...createPcmWriter(), contentType: 'audio/wav', begin: () => writeHeader(shape) }
}

/** Writes samples without a header: 16 bits, little-endian. */
export function createPcmWriter(): AudioWriter {
  return {
    contentType: 'audio/pcm',
    begin: () => NOTHING,
    write(channels) {
      const samples = toIntegerSamples(channels)
      const bytes = Buffer.allocUnsafe(samples.length * BYTES_PER_SAMPLE)
      for (let index = 0; index < samples.length; index += 1)
        bytes.writeInt16LE(samples[index] ?? 0, index * 2)
      return bytes
    },
    end: () => NOTHING,
  }
}

function writeHeader({ sampleRate, channelCount, sampleCount, comment }: AudioShape): Buffer {
  const frameBytes = channelCount * BYTES_PER_SAMPLE
  const format = Buffer.alloc(16)
  format.writeUInt16LE(1, 0)
  format.writeUInt16LE(channelCount, 2)
  format.writeUInt32LE(sampleRate, 4)
  format.writeUInt32LE(sampleRate * frameBytes, 8)
  format.writeUInt16LE(frameBytes, 12)
  format.writeUInt16LE(8 * BYTES_PER_SAMPLE, 14)
  const text = Buffer.from(`${comment}\0`)
  const tags = Buffer.concat([Buffer.from('INFO'), writeChunk('ICMT', text)])
  const data = Buffer.from('data\0\0\0\0', 'latin1')
  data.writeUInt32LE(sampleCount * frameBytes, 4)
  const inner = Buffer.concat([
    Buffer.from('WAVE'),
    writeChunk('fmt ', format),
    writeChunk('LIST', tags),
    data,
  ])
  const opening = Buffer.from('RIFF\0\0\0\0', 'latin1')
  opening.writeUInt32LE(inner.length + sampleCount * frameBytes, 4)
  return Buffer.concat([opening, inner])
}

/** Pads the chunk, because chunks must start at even offsets. */
function writeChunk(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.write(name, 'latin1')
  head.writeUInt32LE(content.length, 4)
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)])
}
