/** The methods of OpenAI's libraries. All other routes are called by their path. */
export const SDK_METHODS: Readonly<Record<string, { readonly python: string; readonly typescript: string }>> =
  {
    '/v1/chat/completions': same('chat.completions.create'),
    '/v1/embeddings': same('embeddings.create'),
    '/v1/moderations': same('moderations.create'),
    '/v1/images/generations': same('images.generate'),
    '/v1/images/edits': { python: 'images.edit', typescript: 'images.edit' },
    '/v1/audio/speech': same('audio.speech.create'),
    '/v1/audio/transcriptions': same('audio.transcriptions.create'),
  }

function same(method: string) {
  return { python: method, typescript: method }
}

/** The path as the libraries take it, without the version. */
export function sdkPath(path: string): string {
  return path.replace(/^\/v1/, '')
}
