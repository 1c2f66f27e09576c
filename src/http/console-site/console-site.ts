import type { FastifyReply, FastifyRequest } from 'fastify'
import { createConsoleFiles, type ConsoleFile } from './console-files.ts'
import { pickCoding } from './pick-coding.ts'

/** The web console, as the server sees it. */
export interface ConsoleSite {
  /** Whether a request that no route matches asks for a page or a file of the console. */
  takes(request: ConsoleRequest): boolean
  /** Answers such a request. Returns false if the console has no such file or is not built. */
  answer(request: FastifyRequest, reply: FastifyReply): Promise<boolean>
  /** Answers with the page of the console. Returns false if it is not built. */
  answerPage(request: FastifyRequest, reply: FastifyReply): Promise<boolean>
}

type ConsoleRequest = Pick<FastifyRequest, 'method' | 'url'> & {
  readonly headers: { readonly accept?: string | undefined }
}

const PAGE = 'index.html'
const ASSETS = '/assets/'
const API_PATH = /^\/(?:anthropic\/)?v1(?:\/|$)/
/** No coded characters, no empty segment and no segment that begins with a dot. */
const FILE_PATH = /^(?:\/[\w~-][\w.~-]{0,199}){1,8}$/
const FOREVER = 'public, max-age=31536000, immutable'

interface ConsoleSiteOptions {
  /** Where the build is: `index.html`, `assets/`, and other files for the root. */
  readonly directory: string
  /** The address of the gateway for clients, whose files the pages show. */
  readonly publicUrl: string | null
}

/**
 * Serves the built console: its files, and its one page for every path of its router. It needs no key, reads no database and is
 * not throttled, because everything comes from memory.
 */
export function createConsoleSite({ directory, publicUrl }: ConsoleSiteOptions): ConsoleSite {
  const files = createConsoleFiles({ directory })
  const pageHeaders = describePageHeaders(publicUrl)

  const answerPage: ConsoleSite['answerPage'] = async (request, reply) => {
    const file = await files.read(PAGE, pickCoding(headerOf(request, 'accept-encoding')))
    if (file === null) return false
    reply.headers(pageHeaders)
    sendFile(file, 'no-cache', request, reply)
    return true
  }

  return {
    takes: ({ method, url, headers }) => {
      const path = pathOf(url)
      if ((method !== 'GET' && method !== 'HEAD') || API_PATH.test(path)) return false
      return isFilePath(path) || acceptsPage(headers)
    },

    answerPage,

    async answer(request, reply) {
      const path = pathOf(request.url)
      const isAsset = path.startsWith(ASSETS)
      if (isFilePath(path) && FILE_PATH.test(path)) {
        const coding = pickCoding(headerOf(request, 'accept-encoding'))
        const file = path === `/${PAGE}` ? null : await files.read(path.slice(1), coding)
        if (file !== null) {
          reply.headers(DOCUMENTS.test(path) ? { ...FILE_HEADERS, ...INERT } : FILE_HEADERS)
          sendFile(file, isAsset ? FOREVER : 'no-cache', request, reply)
          return true
        }
      }
      if (isAsset) {
        // A later build may bring it back, for example when a release is rolled back.
        reply.header('cache-control', 'no-store')
        return false
      }
      return acceptsPage(request.headers) && answerPage(request, reply)
    },
  }
}

function acceptsPage({ accept }: ConsoleRequest['headers']): boolean {
  return accept?.includes('text/html') === true
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}

/** Assets, and files such as `/favicon.svg`. */
function isFilePath(path: string): boolean {
  return path.startsWith(ASSETS) || /^\/[\w-]+\.[a-z0-9]+$/.test(path)
}

function headerOf(
  { headers }: FastifyRequest,
  name: 'accept-encoding' | 'if-none-match',
): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

function sendFile(file: ConsoleFile, caching: string, request: FastifyRequest, reply: FastifyReply): void {
  const { bytes, coding, contentType, tag } = file
  // A range of a compressed file is of no use to a browser, so every answer is the whole file.
  reply
    .header('cache-control', caching)
    .header('vary', 'accept-encoding')
    .header('etag', tag)
    .header('accept-ranges', 'none')
  if (hasTag(headerOf(request, 'if-none-match'), tag)) {
    void reply.code(304).send()
    return
  }
  if (coding !== 'identity') reply.header('content-encoding', coding)
  void reply.type(contentType).send(bytes)
}

function hasTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  const tags = header.split(',').map((text) => text.trim().replace(/^W\//, ''))
  return tags.includes(tag) || tags.includes('*')
}

const DOCUMENTS = /\.(?:svg|html)$/
/** For a file that a browser shows as a page if it is opened by itself: it runs nothing. */
const INERT = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
}
const FILE_HEADERS = {
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
}

function describePageHeaders(publicUrl: string | null): Record<string, string> {
  // Results have addresses of the public URL, also while the page was opened at another address of the gateway.
  const results = publicUrl === null ? '' : ` ${new URL(publicUrl).origin}`
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: blob:${results}`,
    `media-src 'self' data: blob:${results}`,
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy':
      'microphone=(self), camera=(), geolocation=(), display-capture=(), payment=(), usb=(), serial=(), hid=(), midi=()',
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
  }
}
