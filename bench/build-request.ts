/** Builds the exact bytes that the load generator sends. */
export function buildRequest({ path, headers, body }: RequestParts): string {
  const json = JSON.stringify(body)
  const lines = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'content-type: application/json',
    'accept: */*',
    'user-agent: parkway-bench',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(json)}`,
  ]
  return `${lines.join('\r\n')}\r\n\r\n${json}`
}

interface RequestParts {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
}

const INSTRUCTIONS =
  'You are the assistant of a shop for bicycles. Answer in two sentences, name the product you mean, and say so when you do not know. Prices include tax.'
const QUESTION =
  'Which of your touring frames takes a 45 mm tyre with mudguards, and is it in stock in size L?'

/** Builds a chat request of usual shape and size. `stream` asks the mock for that many chunks at that pace. */
export function buildChatBody(stream?: {
  readonly chunks: number
  readonly chunksPerSecond: number
}): object {
  const marker = stream === undefined ? '' : ` [[chunks=${stream.chunks} pace=${stream.chunksPerSecond}]]`
  return {
    model: 'gpt-4o-mini',
    messages: [
      {
        role: 'system',
        content: INSTRUCTIONS,
      },
      {
        role: 'user',
        content: `${QUESTION}${marker}`,
      },
    ],
    temperature: 0.7,
    max_tokens: 256,
    ...(stream === undefined ? {} : { stream: true }),
  }
}

/** Builds the same question as a request of Anthropic's Messages. */
export function buildMessagesBody({ model, isStream }: { model: string; isStream: boolean }): object {
  const messages = [{ role: 'user', content: QUESTION }]
  return { model, max_tokens: 256, system: INSTRUCTIONS, messages, stream: isStream }
}

/** Builds the same question as a request of OpenAI's Responses. */
export function buildResponsesBody({ isStream, isStored }: { isStream: boolean; isStored: boolean }): object {
  return {
    model: 'gpt-4o-mini',
    instructions: INSTRUCTIONS,
    input: QUESTION,
    max_output_tokens: 256,
    store: isStored,
    stream: isStream,
  }
}

/** Builds a request to embed a paragraph. OpenAI's client for Node asks for base64. */
export function buildEmbeddingBody(encoding: 'float' | 'base64'): object {
  return {
    model: 'text-embedding-3-small',
    input:
      'The touring frame takes tyres of up to 45 mm with mudguards. It is made of steel, weighs 2.4 kg in size L, and comes with eyelets for three bottles, two racks and a dynamo.',
    encoding_format: encoding,
  }
}
