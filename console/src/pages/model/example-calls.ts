import type { Model } from '../../api/model-kinds.ts'
import type { ApiCall } from '../../snippets/api-call.ts'

interface ExampleCall {
  readonly title: string
  readonly call: ApiCall
}

/** An example of each call that a model can take. */
export function exampleCalls(model: Model): ExampleCall[] {
  const { id, endpoint: path, category } = model
  const main = (title: string, body: object, more: Partial<ApiCall> = {}): ExampleCall => ({
    title,
    call: { path, body: { model: id, ...body }, ...more },
  })
  switch (category) {
    case 'llm':
      return chatCalls(model)
    case 'image':
      return [
        main('Make an image', { prompt: 'A lighthouse at dusk, oil on canvas', size: '1024x1024' }),
        ...editCalls(model),
      ]
    case 'video':
      return [
        main('Make a video', { prompt: 'Waves on a beach, from above', duration: 5, aspect_ratio: '16:9' }),
      ]
    case 'music':
      return [main('Make music', { prompt: 'A calm piano piece in a minor key', duration: 10 })]
    case 'tts':
      return [
        main('Speak a text', { input: 'The quick brown fox.', voice: 'alloy' }, { savedAs: 'speech.mp3' }),
      ]
    case 'stt':
      return [main('Transcribe audio', {}, { files: { file: 'speech.mp3' } })]
    case 'embedding':
      return [main('Embed a text', { input: 'The quick brown fox' })]
    case 'rerank':
      return [
        main('Rank documents', {
          query: 'What is a gateway?',
          documents: ['A gateway joins two networks.', 'Bread is baked.'],
        }),
      ]
    case 'moderation':
      return [main('Check a text', { input: 'I will plant a tree.' })]
    case 'upscale':
      return [main('Enlarge an image', { scale: 2 }, { files: { image: 'small.png' } })]
    case 'bg_remove':
      return [main('Remove the background', {}, { files: { image: 'photo.png' } })]
  }
}

function editCalls({ id, capabilities }: Model): ExampleCall[] {
  if (!capabilities.includes('image_edit')) return []
  const call = {
    path: '/v1/images/edits',
    body: { model: id, prompt: 'Make it night' },
    files: { image: 'photo.png' },
  }
  return [{ title: 'Edit an image', call }]
}

function chatCalls({ id, capabilities }: Model): ExampleCall[] {
  const path = '/v1/chat/completions'
  const question = (content: unknown) => [{ role: 'user', content }]
  const calls: ExampleCall[] = [
    { title: 'Chat', call: { path, body: { model: id, messages: question('Hello'), stream: true } } },
  ]
  if (capabilities.includes('tool_use'))
    calls.push({
      title: 'With a tool',
      call: {
        path,
        body: { model: id, messages: question('How warm is it in Bern?'), tools: [WEATHER_TOOL] },
      },
    })
  if (capabilities.includes('vision'))
    calls.push({
      title: 'With a picture',
      call: {
        path,
        body: {
          model: id,
          messages: question([
            { type: 'text', text: 'What is in this picture?' },
            { type: 'image_url', image_url: { url: 'https://example.com/photo.jpg' } },
          ]),
        },
      },
    })
  return calls
}

const WEATHER_TOOL = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}
