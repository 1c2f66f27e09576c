import { readFileSync } from 'node:fs'
import type { RunningContestant } from '../running-contestant.ts'

export interface UploadSample {
  readonly answers: number
  readonly failures: number
  /** Peak memory of the process above its memory before the first upload, in MiB. */
  readonly growthMib: number
  readonly mibPerSecond: number
}

const FILE_MIB = 25
const SAMPLE_MS = 10
const PAGE_BYTES = 4096

/** Uploads `count` files of the maximum size concurrently, to be transcribed. */
export async function measureUploads(
  gateway: RunningContestant,
  count: number,
  rssBeforeMib: number,
): Promise<UploadSample> {
  let peak = 0
  const watching = setInterval(() => {
    peak = Math.max(peak, readRssMib(gateway))
  }, SAMPLE_MS)
  const startedMs = performance.now()
  const statuses = await Promise.all(Array.from({ length: count }, () => upload(gateway)))
  const seconds = (performance.now() - startedMs) / 1000
  clearInterval(watching)
  const answers = statuses.filter((status) => status === 200).length
  return {
    answers,
    failures: count - answers,
    growthMib: peak - rssBeforeMib,
    mibPerSecond: (count * FILE_MIB) / seconds,
  }
}

async function upload({ port, requestHeaders }: RunningContestant): Promise<number> {
  const form = new FormData()
  form.append('model', 'whisper-large-v3')
  form.append('file', FILE, 'silence.wav')
  const response = await fetch(`http://127.0.0.1:${port}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: requestHeaders,
    body: form,
  })
  await response.arrayBuffer()
  return response.status
}

const FILE = new Blob([silence(FILE_MIB * 1024 * 1024)])

/** Creates a silent WAV file, 16 bits at 44.1 kHz in stereo. */
function silence(bytes: number): Uint8Array<ArrayBuffer> {
  const file = Buffer.alloc(bytes)
  file.write('RIFF', 0)
  file.writeUInt32LE(bytes - 8, 4)
  file.write('WAVEfmt ', 8)
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(2, 22)
  file.writeUInt32LE(44_100, 24)
  file.writeUInt32LE(44_100 * 4, 28)
  file.writeUInt16LE(4, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36)
  file.writeUInt32LE(bytes - 44, 40)
  return new Uint8Array(file)
}

/** Memory of the gateway alone, without its database. */
export function readRssMib({ process: { child } }: RunningContestant): number {
  try {
    const [, pages] = readFileSync(`/proc/${child.pid}/statm`, 'latin1').split(' ')
    return (Number(pages) * PAGE_BYTES) / 1024 ** 2
  } catch {
    return Number.NaN
  }
}
