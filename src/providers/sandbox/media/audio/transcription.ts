import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type {
  AudioFile,
  Transcript,
  TranscriptionCall,
  TranscriptionOperation,
} from '../../../media/audio-operations.ts'
import { UpstreamError } from '../../../failures/upstream-error.ts'
import { damagePayload } from '../../faults/inject-fault.ts'
import { beginCall, type SandboxParts } from '../begin-call.ts'
import { composeTranscript, guessLanguage } from './compose-transcript.ts'
import { readSpeechTag } from './speech-tag.ts'
import { timeSegments, timeWords } from './time-words.ts'

const HEAD_BYTES = 128 * 1024

/** Returns the original text of the sandbox's own speech. For other audio, composes a text that is seeded by its bytes. */
export function createTranscription(parts: SandboxParts): TranscriptionOperation {
  return async (call) => {
    const { directives, fault, faultContext } = await beginCall(parts, call.prompt ?? '', call)
    if (fault) {
      await damagePayload(fault, Buffer.alloc(0), faultContext)
      throw new UpstreamError('sandbox: answered with what is no transcript', {
        failure: 'invalid_answer',
        provider: 'sandbox',
      })
    }
    const head = await readHead(call.audio)
    const seedText = createHash('sha256').update(head).update(`${call.audio.bytes}`).digest('hex')
    const spoken = directives.echoText ?? readSpeechTag(head)
    return writeTranscript(call, spoken, seedText)
  }
}

function writeTranscript(call: TranscriptionCall, spoken: string | null, seedText: string): Transcript {
  const durationSeconds = Math.max(0, call.audio.durationSeconds)
  // The sandbox cannot translate, so text that is not English is replaced by a composed one.
  const isUsable = spoken !== null && !(call.isTranslation && guessLanguage(spoken) !== 'en')
  const text = isUsable ? spoken : composeTranscript(durationSeconds, seedText)
  const segments = timeSegments(text, durationSeconds)
  return {
    text,
    language: call.isTranslation ? 'en' : (call.language ?? guessLanguage(text)),
    segments,
    words: call.withWords ? timeWords(segments) : [],
    durationSeconds: call.audio.durationSeconds,
  }
}

/** Reads only the beginning, which contains the tags and suffices as a seed. */
async function readHead(audio: AudioFile): Promise<Buffer> {
  try {
    const file = await open(audio.path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (cause) {
    throw new UpstreamError('sandbox: the audio could not be read', {
      failure: 'cut',
      provider: 'sandbox',
      cause,
    })
  }
}
