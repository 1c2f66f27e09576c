import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCatalog, type Category, type ModelRoute } from '../../src/modules/catalog/catalog.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import type { MusicWork } from '../../src/providers/media/media-work.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { createProviderRegistry, type ProviderRegistry } from '../../src/providers/registry.ts'
import { writeAudioFile } from '../upstreams/audio-file.ts'
import {
  startAssemblyAiServer,
  startDeepgramServer,
  startElevenLabsServer,
} from '../upstreams/audio-servers.ts'
import {
  createInferenceCall,
  createMediaCall,
  createSpeechCall,
  createTranscriptionCall,
  payloadOf,
  readSpeech,
} from '../upstreams/call-operations.ts'
import {
  startCohereServer,
  startGoogleEmbeddingServer,
  startVoyageServer,
} from '../upstreams/embedding-servers.ts'
import { failure } from '../upstreams/openai-server.ts'
import { answerOpenAiText } from '../upstreams/openai-text-wire.ts'
import { startScriptedServer, type ScriptedServer } from '../upstreams/scripted-server.ts'
import { BEFORE_ENDS_MS } from '../support/lasting-catalog.ts'

const MUSIC: MusicWork = {
  kind: 'music',
  prompt: 'a waltz',
  lyrics: null,
  isInstrumental: true,
  durationSeconds: 10,
  outputFormat: 'mp3',
}

let file: Awaited<ReturnType<typeof writeAudioFile>>
let servers: Record<string, ScriptedServer>
let registry: ProviderRegistry

beforeAll(async () => {
  file = await writeAudioFile()
  servers = {
    openai: await startWireServer(),
    groq: await startWireServer(),
    google: await startGoogleEmbeddingServer(),
    cohere: await startCohereServer(),
    voyage: await startVoyageServer(),
    elevenlabs: await startElevenLabsServer(),
    deepgram: await startDeepgramServer(),
    assemblyai: await startAssemblyAiServer(),
  }
  const settings = Object.entries(servers).map(
    ([id, { baseUrl }]) => [id, { apiKeys: ['key-1'], baseUrl }] as const,
  )
  registry = createProviderRegistry({
    settings: new Map(settings),
    sandbox: { id: 'sandbox', isConfigured: true },
    clock: systemClock,
    connectTimeoutMs: 5_000,
  })
})

afterAll(async () => {
  await registry.close()
  for (const server of Object.values(servers)) await server.close()
  await file.remove()
})

/** One call per category, with the checks that apply to every answer. */
const CALLS: Partial<Record<Category, (provider: Provider, model: string) => Promise<void>>> = {
  async embedding({ embedding }, model) {
    const answer = await embedding?.(createInferenceCall({ model: 'public', input: ['one', 'two'] }, model))
    expect(payloadOf(answer)).toMatchObject({ object: 'list', data: [{ index: 0 }, { index: 1 }] })
  },
  async rerank({ rerank }, model) {
    const answer = await rerank?.(createInferenceCall({ query: 'gates', documents: ['a', 'b'] }, model))
    expect(payloadOf(answer)).toMatchObject({ results: [{}, {}], meta: { billed_units: {} } })
  },
  async moderation({ moderation }, model) {
    expect(payloadOf(await moderation?.(createInferenceCall({ input: 'a tree' }, model)))).toHaveProperty(
      'results',
    )
  },
  async tts({ speech }, model) {
    expect((await readSpeech(await speech?.speak(createSpeechCall({}, model)))).length).toBeGreaterThan(0)
    expect((await speech?.voices(createSpeechCall({}, model)))?.length).toBeGreaterThan(0)
  },
  async stt({ transcription }, model) {
    expect((await transcription?.(createTranscriptionCall(file.audio, model)))?.text).toContain('Hello')
  },
  async music({ music }, model) {
    expect(await music?.start(createMediaCall(MUSIC, model))).toMatchObject({ kind: 'done' })
  },
}

const catalog = createCatalog({ now: () => BEFORE_ENDS_MS })
// Service models are listed only if their category is requested.
const routes = Object.keys(CALLS)
  .flatMap((category) => catalog.list({ category }))
  .flatMap((model) =>
    model.routes.map((route): [Category, string, ModelRoute] => [model.category, model.id, route]),
  )

describe('every text and audio model in the catalog', () => {
  test('is covered', () => {
    expect(new Set(routes.map(([category]) => category))).toEqual(new Set(Object.keys(CALLS)))
  })

  test.each(routes)('%s %s is answered by its upstream', async (category, _, { provider: id, model }) => {
    const provider = registry.get(id)
    if (provider === undefined) throw new Error(`${id} has no adapter`)
    await CALLS[category]?.(provider, model)
  })
})

/** Starts a local server with all text and audio operations of OpenAI's wire. */
async function startWireServer(): Promise<ScriptedServer> {
  const server = await startScriptedServer((request) => answerOpenAiText(request) ?? failure(404))
  return { ...server, baseUrl: `${server.baseUrl}/v1` }
}
