import { describe, expect, it } from 'vitest'
import type { ChatRequest, ContentPart } from '../../../wires/openai-chat/chat-request.ts'
import { findFilesOfChat } from './inline-own-files.ts'

const requestOf = (content: string | ContentPart[]): ChatRequest => ({
  model: 'm',
  messages: [{ role: 'user', content }],
})

/** Returns the addresses for which the owner is looked up. */
function lookedUp(request: ChatRequest): string[] {
  const urls: string[] = []
  const ownIdOf = (url: string) => {
    urls.push(url)
    return null
  }
  expect(findFilesOfChat({ ownIdOf }, request, { fetchesForeign: false })).toEqual([])
  return urls
}

describe('finding files of the gateway in a chat', () => {
  it('looks only at addresses', () => {
    expect(lookedUp(requestOf('see http://gateway.test/media/a.png'))).toEqual([])
    const parts: ContentPart[] = [
      { type: 'text', text: 'http://gateway.test/media/a.png' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      { type: 'file', file: { file_id: 'file-1' } },
    ]
    expect(lookedUp(requestOf(parts))).toEqual([])
  })

  it('checks every address, also of other hosts', () => {
    const url = 'https://elsewhere.example/a.png'
    expect(lookedUp(requestOf([{ type: 'image_url', image_url: { url } }]))).toEqual([url])
  })
})
