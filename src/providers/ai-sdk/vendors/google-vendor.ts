import { withVendorOptions, type Vendor } from '../vendor.ts'
import { lookupTable } from '../../../kernel/lookup-table.ts'

const STOP_SEQUENCES_MAX = 5

export const googleVendor: Vendor = {
  key: 'google',
  defaultBaseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  async createModel({ modelId, apiKey, baseUrl, fetch }) {
    const { createGoogle } = await import('@ai-sdk/google')
    return createGoogle({ apiKey, baseURL: baseUrl, fetch }).languageModel(modelId)
  },
  normalizeMediaType: (mediaType) => MEDIA_TYPE_NAMES[mediaType] ?? mediaType,
  normalizeCallId: (callId) => callId,
  // Models before Gemini 3 refuse JSON mode together with tools.
  needsJsonInstruction: ({ body }) => (body.tools ?? []).length > 0,
  selectStopSequences: (stopSequences) => stopSequences.slice(0, STOP_SEQUENCES_MAX),
  refineOptions(options, { reasoning }) {
    if (reasoning === undefined) return options
    const refined = { ...options, reasoning }
    if (reasoning === 'none') return refined
    return withVendorOptions(refined, { google: { thinkingConfig: { includeThoughts: true } } })
  },
}

const MEDIA_TYPE_NAMES = lookupTable<string>({
  'image/jpg': 'image/jpeg',
  'audio/mpeg': 'audio/mp3',
  'audio/x-wav': 'audio/wav',
})
