import type { ContentPart } from '../openai-chat/chat-request.ts'
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
  switch (source['type']) {
    case 'base64':
      return { type: 'image_url', image_url: { url: toDataUrl(source, param) } }
    case 'url':
      return { type: 'image_url', image_url: { url: readText(source, 'url', param) } }
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
  const file = (data: string): ContentPart[] => [
    ...heading,
    withCacheMark({ type: 'file', file: { file_data: data, filename: title ?? 'document.pdf' } }, block),
  ]
  switch (source['type']) {
    case 'base64':
      return file(toDataUrl(source, place))
    case 'url':
      return file(readText(source, 'url', place))
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

/**
 * Keeps the cache mark for providers of the chat format that have a prompt cache. `toPlainMessages` removes it for all others.
 */
function withCacheMark<Part extends ContentPart>(part: Part, block: Members): Part {
  const mark = block['cache_control']
  return mark === undefined || mark === null ? part : { ...part, cache_control: mark }
}
