import type { MediaPart } from './read-conversation.ts'
import { readInlineImageSize } from '../../../kernel/media/inline-image-size.ts'

const DESCRIBED_MAX = 8

/** Returns one sentence for images and one for other attachments, based only on the request. Never fetches anything. */
export function describeMedia(media: readonly MediaPart[]): string[] {
  const images: string[] = []
  const others: string[] = []
  for (const part of media) {
    if (part.type === 'image_url') images.push(describeImage(part.image_url.url))
    else others.push(describeOther(part))
  }
  const sentences: string[] = []
  if (images.length > 0) sentences.push(`I see ${countOf(images.length, 'image')}: ${joinBounded(images)}.`)
  if (others.length > 0) sentences.push(`I also received ${joinBounded(others)}.`)
  return sentences
}

function describeImage(url: string): string {
  if (!url.startsWith('data:')) return `one at ${readHost(url)}, which the sandbox does not fetch`
  const size = readInlineImageSize(url)
  return size ? `a ${size.format} of ${size.width}×${size.height} pixels` : 'one whose format I cannot read'
}

function readHost(url: string): string {
  return URL.parse(url.slice(0, 2048))?.hostname || 'an address without a host'
}

function describeOther(part: Exclude<MediaPart, { type: 'image_url' }>): string {
  if (part.type === 'input_audio') return `an audio clip (${part.input_audio.format.slice(0, 16)})`
  if (part.type === 'video_url') {
    const { url } = part.video_url
    return url.startsWith('data:') ? 'a video' : `a video at ${readHost(url)}`
  }
  const { filename } = part.file
  return typeof filename === 'string' ? `the file ${filename.slice(0, 100).toWellFormed()}` : 'a file'
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function joinBounded(items: readonly string[]): string {
  const shown = items.slice(0, DESCRIBED_MAX).join('; ')
  return items.length > DESCRIBED_MAX ? `${shown}; and ${items.length - DESCRIBED_MAX} more` : shown
}
