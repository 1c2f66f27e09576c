/** Where this tab works. */
interface Place {
  /** What every request says that it is meant for: all tabs share one session, and another one may have changed its project. */
  readonly named: string
  /** Null for the whole account. */
  readonly projectId: string | null
}

const PARAMETER = 'project'
const ATTEMPTS_MAX = 3

let place: Place | null = null
/** The project of the address, if the session must not enter it. */
let refusedId: string | null = null
let onChange: () => void = () => {}
let returning: Promise<boolean> | null = null
const listeners = new Set<() => void>()

/** The project that the session was refused, for `useSyncExternalStore`. */
export const refusedProject = {
  read: (): string | null => refusedId,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

/** Takes the project out of an address, so that a link opens in the same project. */
export function takeProject(search: Record<string, unknown>): Record<string, unknown> {
  const { [PARAMETER]: named, ...rest } = search
  if (typeof named === 'string' && named !== '' && named !== place?.projectId)
    place = { named, projectId: named }
  return rest
}

/** Adds the project of this tab to an address. An account without projects never sees it. */
export function withProject(search: Record<string, unknown>): Record<string, unknown> {
  return place === null || place.projectId === null ? search : { ...search, [PARAMETER]: place.projectId }
}

interface Session {
  readonly project: { readonly id: string } | null
  readonly has_projects: boolean
}

/** Sets what happens when the address of this tab should tell another project. */
export function handleProjectChange(handler: () => void): void {
  onChange = handler
}

/** Remembers where the session works. */
export function noteProject(accountId: string, session: Session): void {
  const before = place?.projectId
  if (session.project !== null) place = { named: session.project.id, projectId: session.project.id }
  // A request for the whole account names its project `Default`, which has the id of the account.
  else if (session.has_projects) place = { named: `proj_${accountId.replaceAll('-', '')}`, projectId: null }
  if (place !== null && (before ?? null) !== place.projectId) onChange()
}

/** Sends a request to the project of this tab. Leads the session back there if another tab has changed it. */
export async function fetchInProject(request: Request): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    if (place === null) return fetch(request)
    const named = request.clone()
    named.headers.set('OpenAI-Project', place.named)
    const response = await fetch(named)
    if (response.status !== 401 || attempt === ATTEMPTS_MAX || !(await isElsewhere(response))) return response
    if (!(await continueHere())) return response
  }
}

/** Continues the session in a project, or where its key works. */
export function enterProject(projectId: string | null): Promise<Response> {
  return fetch('/v1/sessions/project', {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ project_id: projectId }),
  })
}

function continueHere(): Promise<boolean> {
  returning ??= enterProject(place?.projectId ?? null)
    .then(({ ok, status }) => {
      if (status === 404 || status === 400) refuse(place?.projectId ?? null)
      return ok
    })
    .finally(() => {
      returning = null
    })
  return returning
}

function refuse(projectId: string | null): void {
  refusedId = projectId
  for (const listener of listeners) listener()
}

async function isElsewhere(response: Response): Promise<boolean> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null)
  return JSON.stringify(body).includes('"mismatched_project"')
}
