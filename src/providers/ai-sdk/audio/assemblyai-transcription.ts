import { UpstreamError } from '../../failures/upstream-error.ts'
import type { TranscriptionVendor } from './transcription-operation.ts'

const ASSEMBLYAI = { provider: 'assemblyai', packageUrl: 'https://api.assemblyai.com/v2' }
const JOB_FAILED = /^Transcription failed: (.*)$/s

export const assemblyAiTranscription: TranscriptionVendor = {
  ...ASSEMBLYAI,
  // The package polls for the transcript every three seconds, so this allows one hour.
  limits: { requestsMax: 1200 },
  async createModel({ modelId, apiKey, fetch }) {
    const { createAssemblyAI } = await import('@ai-sdk/assemblyai')
    return createAssemblyAI({ apiKey, fetch }).transcription(modelId)
  },
  toVendorOptions: ({ language }) =>
    language === null ? { languageDetection: true } : { languageCode: language },
  explain(error) {
    const message = error instanceof Error ? JOB_FAILED.exec(error.message)?.[1] : undefined
    if (message === undefined) return error
    return new UpstreamError('assemblyai could not transcribe the file', {
      failure: 'status',
      provider: ASSEMBLYAI.provider,
      status: 422,
      upstreamMessage: message,
    })
  },
}
