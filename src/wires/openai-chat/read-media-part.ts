import { invalidValue } from '../../kernel/app-error.ts'
import { isDataUri, parseDataUri, readBase64Head, readDataHead } from '../../kernel/media/data-uri.ts'
import {
  CONTENT_HEAD_BYTES,
  recogniseContent,
  type ContentKind,
  type RecognisedContent,
} from '../../kernel/media/recognise-content.ts'
import { guessMediaType, kindOfType } from '../media-types.ts'
import type { ContentPart } from './chat-request.ts'

export type MediaPart = Exclude<ContentPart, { type: 'text' | 'refusal' }>

export function isMediaPart(part: ContentPart): part is MediaPart {
  return part.type !== 'text' && part.type !== 'refusal'
}

/** What a part is. The hold and the part that is sent to a vendor are both made from this. */
export interface MediaReading {
  /** Null if nothing tells what it is. */
  readonly kind: ContentKind | null
  /** The type that a vendor is told. */
  readonly mediaType: string
  /** What the first bytes are. Null if they are unknown, or not here. */
  readonly recognised: RecognisedContent | null
  readonly place: 'inline' | 'address' | 'vendor'
}

/** A part that is not what it says. The message is for the client. */
export class MistakenPart extends Error {
  override readonly name = 'MistakenPart'
  /** The member of the part. */
  readonly member: string

  constructor(member: string, message: string) {
    super(message)
    this.member = member
  }
}

/**
 * Decides what a part is: by its bytes if they are here, otherwise by its declared type. Throws `MistakenPart` if the two differ,
 * because a vendor could read, and bill, something else than what was held.
 */
export function readMediaPart(part: MediaPart): MediaReading {
  switch (part.type) {
    case 'image_url':
      return readSource(part.image_url.url, { member: 'image_url.url', wanted: 'image' })
    case 'video_url':
      return readSource(part.video_url.url, { member: 'video_url.url', wanted: 'video' })
    case 'input_audio': {
      const { data, format } = part.input_audio
      return readSource(data, { member: 'input_audio.data', wanted: 'audio', claimed: `audio/${format}` })
    }
    case 'file': {
      const { file_data: data, filename } = part.file
      if (typeof data !== 'string') return { ...UNSEEN, mediaType: guessMediaType(filename ?? '') ?? PDF }
      const claimed = guessMediaType(filename ?? '')
      return readSource(data, {
        member: 'file.file_data',
        wanted: null,
        ...(claimed === undefined ? {} : { claimed }),
      })
    }
  }
}

/**
 * Throws the client's error if a part is not what it says.
 * @param placeOf returns where the client wrote a member of the part
 */
export function requireMediaPart(part: MediaPart, placeOf: (member: string) => string): MediaReading {
  try {
    return readMediaPart(part)
  } catch (error) {
    if (!(error instanceof MistakenPart)) throw error
    const place = placeOf(error.member)
    throw invalidValue(place, `'${place}' ${error.message}`)
  }
}

const PDF = 'application/pdf'
const UNSEEN = { kind: null, recognised: null, place: 'vendor' } as const

interface Expected {
  readonly member: string
  /** The kind that the type of the part states. Null for files, which may be of any kind. */
  readonly wanted: 'image' | 'audio' | 'video' | null
  /** The type that the name or the format states. */
  readonly claimed?: string
}

function readSource(source: string, expected: Expected): MediaReading {
  if (isDataUri(source)) return readInline(source, expected)
  const isBare = expected.wanted === null || expected.wanted === 'audio'
  if (/^https?:/i.test(source)) return readAddress(source, expected)
  if (isBare && !SCHEME.test(source)) return readBare(source, expected)
  throw new MistakenPart(expected.member, 'must be an http(s) URL or a data URI.')
}

/** No base64 begins so. */
const SCHEME = /^[a-z][a-z0-9+.-]{0,60}:/i

function readInline(uri: string, expected: Expected): MediaReading {
  const parsed = parseDataUri(uri)
  if (parsed === null || parsed.start === uri.length)
    throw new MistakenPart(expected.member, 'is a data URI without data.')
  const head = readDataHead(uri, parsed, CONTENT_HEAD_BYTES)
  return decide(head, { ...expected, declared: VAGUE_TYPES.has(parsed.mediaType) ? null : parsed.mediaType })
}

function readBare(base64: string, expected: Expected): MediaReading {
  return decide(readBase64Head(base64, 0, CONTENT_HEAD_BYTES), { ...expected, declared: null })
}

/** Types that tell nothing. */
const VAGUE_TYPES: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'binary/octet-stream'])

const USUAL_TYPES = { image: 'image/jpeg', audio: 'audio/mpeg', video: 'video/mp4' } as const

function decide(
  head: Buffer | null,
  { member, wanted, claimed, declared }: Expected & { readonly declared: string | null },
): MediaReading {
  if (head === null) throw new MistakenPart(member, 'is not base64.')
  const recognised = recogniseContent(head)
  const mediaType = declared ?? guess(recognised, claimed) ?? (wanted === null ? PDF : USUAL_TYPES[wanted])
  const stated = kindOfType(mediaType)
  const kind = wanted ?? stated
  if (wanted !== null && declared !== null && stated !== wanted && !isAlsoAudio(wanted, declared))
    throw new MistakenPart(member, `holds ${declared}, not ${DESCRIBED[wanted]}. ${ADVICE}`)
  if (recognised !== null && kind !== null && !fits(recognised, kind, head))
    throw new MistakenPart(
      member,
      `holds ${recognised.mediaType}, not ${declared ?? DESCRIBED[kind]}. ${ADVICE}`,
    )
  return { kind, mediaType, recognised, place: 'inline' }
}

/** A name or a format tells the type more exactly, unless the bytes are something else. */
function guess(recognised: RecognisedContent | null, claimed: string | undefined): string | undefined {
  if (recognised === null || claimed === undefined) return recognised?.mediaType ?? claimed
  const kind = kindOfType(claimed)
  return kind !== null && recognised.kinds.includes(kind) ? claimed : recognised.mediaType
}

const ADVICE = 'Send it as a part of its own type.'

const DESCRIBED: Readonly<Record<ContentKind, string>> = {
  image: 'an image',
  audio: 'audio',
  video: 'a video',
  document: 'a document',
  text: 'text',
}

/** Some clients call recordings by the type of a video container. */
function isAlsoAudio(wanted: ContentKind, declared: string): boolean {
  return wanted === 'audio' && (kindOfType(declared) === 'video' || declared === 'application/ogg')
}

function fits({ kinds, mediaType }: RecognisedContent, kind: ContentKind, head: Buffer): boolean {
  if (kinds.includes(kind)) return true
  // A video may be sent as a list of images, which cost less.
  if (kind === 'video' && kinds.includes('image')) return true
  // Text may begin like the signature of a file.
  return kind === 'text' && mediaType !== PDF && !head.some(isControlCharacter)
}

/** White space is no such character. */
function isControlCharacter(byte: number): boolean {
  return byte < 0x09 || (byte > 0x0d && byte < 0x20)
}

function readAddress(address: string, { member, wanted }: Expected): MediaReading {
  if (!URL.canParse(address)) throw new MistakenPart(member, 'is not a URL.')
  const { hostname, pathname } = new URL(address)
  const host = hostname.replace(/\.$/, '')
  if (VENDOR_FILES.test(host))
    throw new MistakenPart(member, 'leads to files of an account at a vendor. Send the content instead.')
  const named = VIDEO_SITES.test(host) ? 'video/mp4' : guessMediaType(pathname)
  const stated = named === undefined ? null : kindOfType(named)
  if (wanted !== null && stated !== null && stated !== wanted && !isNoDearer(stated, wanted))
    throw new MistakenPart(member, `leads to ${DESCRIBED[stated]}, not to ${DESCRIBED[wanted]}. ${ADVICE}`)
  const kind = wanted ?? stated
  const mediaType = named ?? (wanted === null ? PDF : USUAL_TYPES[wanted])
  return { kind, mediaType, recognised: null, place: 'address' }
}

/** Audio and videos at an address are both held as the longest prompt. An image costs less. */
function isNoDearer(stated: ContentKind, wanted: ContentKind): boolean {
  if (wanted === 'video') return stated === 'audio' || stated === 'image'
  return wanted === 'audio' && stated === 'video'
}

/** Google plays these by their address, whatever type it is told. */
const VIDEO_SITES = /(?:^|\.)(?:youtube\.com|youtu\.be|youtube-nocookie\.com)$/
const VENDOR_FILES = /^(?:[a-z0-9-]+-)?generativelanguage\.googleapis\.com$/
