import type { TranscriptWord } from '../../media/audio-operations.ts'
import { readNumber, readPath, readString } from '../exchange/read-json.ts'
import { DEEPGRAM } from './deepgram-speech.ts'
import type { TranscriptionVendor } from './transcription-operation.ts'

export const deepgramTranscription: TranscriptionVendor = {
  ...DEEPGRAM,
  async createModel({ modelId, apiKey, fetch }) {
    const { createDeepgram } = await import('@ai-sdk/deepgram')
    return createDeepgram({ apiKey, fetch }).transcription(modelId)
  },
  toVendorOptions: ({ language }) => ({
    ...(language === null ? { detectLanguage: true } : { language }),
    smartFormat: true,
  }),
  readWords(answer) {
    const words = readPath(
      firstOf(readPath(firstOf(readPath(answer, 'results', 'channels')), 'alternatives')),
      'words',
    )
    return Array.isArray(words) ? words.flatMap(readWord) : []
  },
}

function firstOf(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined
}

function readWord(entry: unknown): TranscriptWord[] {
  const word = readString(entry, 'punctuated_word') ?? readString(entry, 'word')
  const [startSeconds, endSeconds] = [readNumber(entry, 'start'), readNumber(entry, 'end')]
  return word === undefined || startSeconds === undefined || endSeconds === undefined
    ? []
    : [{ word, startSeconds, endSeconds }]
}
