import type { ContentPart } from '../openai-chat/chat-request.ts'
import { requireMediaPart, type MediaPart } from '../openai-chat/read-media-part.ts'
import { nativeOnly } from './native-only.ts'
import { readBlocks, readMembers, readOptionalText, readText, type Members } from './read-block.ts'

/** Converts a block of a user message, of the instructions or of a tool result to chat parts. */
export function toChatParts(block: Members, param: string): ContentPart[] {
  switch (block['type']) {
    case 'text':
      return [withCacheMark({ type: 'text', text: readText(block, 'text', param) }, block)]
    case 'image':
      return [withCacheMark(toImagePart(readMembers(block, 'source', param), `${param}.source`), block)]
    case 'document':
      return toDocumentParts(block, param)
    case 'search_result':
      return [withCacheMark({ type: 'text', text: describeSearchResult(block, param) }, block)]
    case 'tool_reference':
      // The model gets all tools of a request, including those that are to be loaded later.
      return [{ type: 'text', text: `The tool ${readText(block, 'tool_name', param)} can be used now.` }]
    default:
      throw nativeOnly(param, `A content block of the type ${JSON.stringify(block['type'])}`)
  }
}

function toImagePart(source: Members, param: string): ContentPart {
  const image = (url: string, member: string): ContentPart =>
    checked({ type: 'image_url', image_url: { url } }, `${param}.${member}`)
  switch (source['type']) {
    case 'base64':
      return image(toDataUrl(source, param), 'data')
    case 'url':
      return image(readText(source, 'url', param), 'url')
    case 'file':
      throw nativeOnly(param, 'A file of the Files API')
    default:
      throw nativeOnly(`${param}.type`, `A source of the type ${JSON.stringify(source['type'])}`)
  }
}

function toDocumentParts(block: Members, param: string): ContentPart[] {
  const source = readMembers(block, 'source', param)
  const place = `${param}.source`
  const title = readOptionalText(block, 'title')
  const about = [title, readOptionalText(block, 'context')].filter((text) => text !== null)
  const heading: ContentPart[] = about.length === 0 ? [] : [{ type: 'text', text: about.join('\n') }]
  const file = (data: string, member: string): ContentPart[] => [
    ...heading,
    withCacheMark(
      checked(
        { type: 'file', file: { file_data: data, filename: title ?? 'document.pdf' } },
        `${place}.${member}`,
      ),
      block,
    ),
  ]
  switch (source['type']) {
    case 'base64':
      return file(toDataUrl(source, place), 'data')
    case 'url':
      return file(readText(source, 'url', place), 'url')
    case 'text':
      return [...heading, withCacheMark({ type: 'text', text: readText(source, 'data', place) }, block)]
    case 'content':
      return [
        ...heading,
        ...readBlocks(source['content'], `${place}.content`).flatMap((inner, index) =>
          toChatParts(inner, `${place}.content.${index}`),
        ),
      ]
    case 'file':
      throw nativeOnly(place, 'A file of the Files API')
    default:
      throw nativeOnly(`${place}.type`, `A source of the type ${JSON.stringify(source['type'])}`)
  }
}

function describeSearchResult(block: Members, param: string): string {
  const texts = readBlocks(block['content'], `${param}.content`).map((inner, index) =>
    readText(inner, 'text', `${param}.content.${index}`),
  )
  return [readText(block, 'title', param), readText(block, 'source', param), ...texts].join('\n')
}

function toDataUrl(source: Members, param: string): string {
  return `data:${readText(source, 'media_type', param)};base64,${readText(source, 'data', param)}`
}

/** Anthropic reads a block as what it says, so a block that holds something else is refused. */
function checked(part: MediaPart, place: string): ContentPart {
  requireMediaPart(part, () => place)
  return part
}

/**
 * Keeps the cache mark for providers of the chat format that have a prompt cache. `toPlainMessages` removes it for all others.
 */
function withCacheMark<Part extends ContentPart>(part: Part, block: Members): Part {
  const mark = block['cache_control']
  return mark === undefined || mark === null ? part : { ...part, cache_control: mark }
}
