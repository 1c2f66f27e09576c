import type { Content } from './stream-chat.ts'

/** What is sent with a prompt. */
export interface Attachments {
  /** Text files, to put before the prompt. */
  readonly texts: readonly string[]
  /** Addresses and data URIs. */
  readonly images: readonly string[]
}

/** Returns the content of a message. It is an empty text if there is nothing to say. */
export function attach(prompt: string, { texts, images }: Attachments): Content {
  const text = [...texts, prompt].filter((part) => part !== '').join('\n\n')
  if (text === '' || images.length === 0) return text
  return [
    { type: 'text', text },
    ...images.map((url) => ({ type: 'image_url' as const, image_url: { url } })),
  ]
}
