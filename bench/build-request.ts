/** A request as the load generator sends it, byte for byte. */
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

/** A chat request of a usual shape and size; `stream` asks the mock for that many chunks at that pace. */
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
        content:
          'You are the assistant of a shop for bicycles. Answer in two sentences, name the product you mean, and say so when you do not know. Prices include tax.',
      },
      {
        role: 'user',
        content: `Which of your touring frames takes a 45 mm tyre with mudguards, and is it in stock in size L?${marker}`,
      },
    ],
    temperature: 0.7,
    max_tokens: 256,
    ...(stream === undefined ? {} : { stream: true }),
  }
}

/** A paragraph to be embedded, as a client asks for it: the official one for Node wants base64. */
export function buildEmbeddingBody(encoding: 'float' | 'base64'): object {
  return {
    model: 'text-embedding-3-small',
    input:
      'The touring frame takes tyres of up to 45 mm with mudguards. It is made of steel, weighs 2.4 kg in size L, and comes with eyelets for three bottles, two racks and a dynamo.',
    encoding_format: encoding,
  }
}
