/** A path under which a route is served besides its own, and the model that it names. */
export interface OtherPath {
  readonly path: string
  /** Azure's clients name the model in the path. */
  readonly model: string | null
}

const DEPLOYMENT = /^\/openai\/deployments\/([^/]+)(\/.+)$/

/** Whether a path can only be that of a route, so that no other form has to be tried. */
export function isPlainPath(path: string): boolean {
  return path.startsWith('/v1/') && !path.endsWith('/') && !path.startsWith('/v1/v1/')
}

/**
 * Returns the paths of routes that a client may mean: without a slash at the end, with `/v1` where its base address has none or has
 * it twice, and the forms of Azure. The first one that is a route is meant.
 */
export function readOtherPaths(path: string): OtherPath[] {
  const plain = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
  const meant: OtherPath[] = plain === path ? [] : [{ path: plain, model: null }]
  const [, deployment, operation] = DEPLOYMENT.exec(plain) ?? []
  if (deployment !== undefined) {
    const model = decodeSegment(deployment)
    return model === null ? meant : [...meant, { path: `/v1${operation}`, model }]
  }
  for (const [start, instead] of STARTS)
    if (plain.startsWith(start)) {
      meant.push({ path: instead + plain.slice(start.length), model: null })
      break
    }
  return meant
}

/** How a path may begin, and how the path of the route begins. The first one counts. */
const STARTS: readonly (readonly [string, string])[] = [
  ['/openai/v1/', '/v1/'],
  ['/openai/', '/v1/'],
  ['/v1/v1/', '/v1/'],
  ['/v1/', '/v1/'],
  ['/v2/', '/v2/'],
  ['/anthropic/v1/v1/', '/anthropic/v1/'],
  ['/anthropic/v1/', '/anthropic/v1/'],
  ['/anthropic/', '/anthropic/v1/'],
  ['/', '/v1/'],
]

function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}

/** Whether clients of Anthropic's wire call this path, so that an error there has their form. */
export function isAnthropicPath(path: string): boolean {
  return ANTHROPIC_PATH.test(path)
}

const ANTHROPIC_PATH = /^\/(?:anthropic|(?:v1\/){0,2}messages)(?:\/|$)/
