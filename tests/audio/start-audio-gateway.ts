import {
  startTestGateway,
  type TestAnswer,
  type TestGateway,
  type TestGatewayOptions,
} from '../support/start-test-gateway.ts'
import { startAudioUpstream, type AudioUpstream } from './audio-upstream.ts'

export interface AudioGateway extends TestGateway {
  /** The server that is used as OpenAI and as Groq. */
  readonly upstream: AudioUpstream
  /** Sends a form with these fields and files. */
  send(path: string, parts: readonly Part[], headers?: Record<string, string>): Promise<TestAnswer>
  spent(): Promise<number>
  records(): Promise<{ total: number; operation: string; cost_usd: number; outcome: string }>
}

export type Part = readonly [name: string, value: string | Buffer, filename?: string]

export const TRANSCRIPTIONS = '/v1/audio/transcriptions'
export const TRANSLATIONS = '/v1/audio/translations'
export const SPEECH = '/v1/audio/speech'
export const VOICES = '/v1/audio/voices'

/** Costs $0.00003083 per second. */
export const WHISPER = 'whisper-large-v3'
export const WHISPER_USD = 0.00003083
/** Costs $0.000015 per character. */
export const TTS = 'tts-1'
export const TTS_USD = 0.000015

/** Starts a gateway that uses one local server as OpenAI and as Groq. */
export async function startAudioGateway(options: TestGatewayOptions = {}): Promise<AudioGateway> {
  const upstream = await startAudioUpstream()
  const gateway = await startTestGateway({
    ...options,
    settings: {
      OPENAI_API_KEY: 'sk-upstream',
      OPENAI_BASE_URL: `${upstream.baseUrl}/v1`,
      GROQ_API_KEY: 'sk-upstream',
      GROQ_BASE_URL: `${upstream.baseUrl}/v1`,
      ...options.settings,
    },
  })
  return {
    ...gateway,
    upstream,
    send: async (path, parts, headers = {}) => {
      const response = await fetch(gateway.baseUrl + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, ...headers },
        body: formOf(parts),
      })
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
      return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
    },
    spent: async () => {
      const { body } = await gateway.request('GET', '/v1/tenants/me')
      return Number((10 - body.balance_usd).toFixed(9))
    },
    records: async () => {
      const { body } = await gateway.request('GET', '/v1/usage/records?limit=1')
      return { total: body.total, ...body.data[0] }
    },
    close: async () => {
      await gateway.close()
      await upstream.close()
    },
  }
}

export function formOf(parts: readonly Part[]): FormData {
  const form = new FormData()
  for (const [name, value, filename] of parts) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, new Blob([new Uint8Array(value)]), filename ?? 'audio')
  }
  return form
}
