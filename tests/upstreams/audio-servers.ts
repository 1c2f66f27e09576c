import { json } from './openai-server.ts'
import {
  startScriptedServer,
  type RecordedRequest,
  type ScriptedReply,
  type ScriptedServer,
} from './scripted-server.ts'

export function audioReply(...chunks: (string | Uint8Array)[]): ScriptedReply {
  return { headers: { 'content-type': 'audio/mpeg' }, chunks }
}

/** Starts a local server for ElevenLabs' voices, text to speech, speech to text and music. */
export async function startElevenLabsServer(): Promise<ScriptedServer> {
  return startAt('/v1', ({ path }) => {
    if (path.startsWith('/v1/voices')) return json({ voices: ELEVENLABS_VOICES })
    return path.startsWith('/v1/speech-to-text')
      ? json(ELEVENLABS_TRANSCRIPT)
      : audioReply('ID3', ' and so on')
  })
}

const ELEVENLABS_VOICES = [
  {
    voice_id: '21m00Tcm4TlvDq8ikWAM',
    name: 'Rachel',
    category: 'premade',
    labels: { accent: 'american', gender: 'female', language: 'en' },
    preview_url: 'https://storage.example.com/rachel.mp3',
  },
  { voice_id: 'own-1', name: 'My clone', category: 'cloned', labels: {}, preview_url: null },
]

const ELEVENLABS_TRANSCRIPT = {
  language_code: 'eng',
  language_probability: 0.98,
  text: 'Hello there. Bye.',
  words: [
    { text: 'Hello', type: 'word', start: 0, end: 0.4, speaker_id: 'speaker_0' },
    { text: ' ', type: 'spacing', start: 0.4, end: 0.5 },
    { text: 'there.', type: 'word', start: 0.5, end: 1 },
    { text: ' ', type: 'spacing', start: 1, end: 1.1 },
    { text: 'Bye.', type: 'word', start: 1.1, end: 1.5 },
  ],
}

/** Returns an error as ElevenLabs formats it. */
export function elevenLabsError(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): ScriptedReply {
  return json({ detail: { status: 'some_status', message } }, status, headers)
}

/** Starts a local server for Deepgram's `/v1/listen` and `/v1/speak`. */
export async function startDeepgramServer(): Promise<ScriptedServer> {
  return startAt('/v1', ({ path }) =>
    path.startsWith('/v1/speak') ? audioReply('ID3', ' and so on') : json(DEEPGRAM_TRANSCRIPT),
  )
}

const DEEPGRAM_WORDS = [
  { word: 'hello', start: 0, end: 0.4, confidence: 0.99, punctuated_word: 'Hello' },
  { word: 'there', start: 0.5, end: 1, confidence: 0.99, punctuated_word: 'there.' },
  { word: 'bye', start: 1.1, end: 1.5, confidence: 0.99, punctuated_word: 'Bye.' },
]

const DEEPGRAM_TRANSCRIPT = {
  metadata: { request_id: 'd0', duration: 1.5, channels: 1, models: ['m'] },
  results: {
    channels: [
      {
        detected_language: 'en',
        alternatives: [{ transcript: 'Hello there. Bye.', confidence: 0.99, words: DEEPGRAM_WORDS }],
      },
    ],
  },
}

/** Returns an error as Deepgram formats it. */
export function deepgramError(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): ScriptedReply {
  return json({ err_code: 'SOME_CODE', err_msg: message, request_id: 'd1' }, status, headers)
}

/** Starts a local server for AssemblyAI's upload, submission and polling. */
export async function startAssemblyAiServer(): Promise<ScriptedServer> {
  return startAt('/v2', ({ path, method }) => {
    if (path === '/v2/upload') return json({ upload_url: 'https://cdn.assemblyai.com/upload/1' })
    return method === 'POST' ? json({ id: 'a0', status: 'queued' }) : json(ASSEMBLYAI_TRANSCRIPT)
  })
}

const ASSEMBLYAI_TRANSCRIPT = {
  id: 'a0',
  status: 'completed',
  text: 'Hello there. Bye.',
  language_code: 'en_us',
  audio_duration: 2,
  words: [
    { text: 'Hello', start: 0, end: 400, confidence: 0.9, speaker: null },
    { text: 'there.', start: 500, end: 1000, confidence: 0.9, speaker: null },
    { text: 'Bye.', start: 1100, end: 1500, confidence: 0.9, speaker: null },
  ],
}

/** Returns an error as AssemblyAI formats it. */
export function assemblyAiError(
  status: number,
  error: string,
  headers: Record<string, string> = {},
): ScriptedReply {
  return json({ error }, status, headers)
}

async function startAt(
  path: string,
  reply: (request: RecordedRequest) => ScriptedReply,
): Promise<ScriptedServer> {
  const server = await startScriptedServer(reply)
  return { ...server, baseUrl: `${server.baseUrl}${path}` }
}
