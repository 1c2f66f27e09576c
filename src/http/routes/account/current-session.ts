import { Type, type Static } from 'typebox'
import { notFound } from '../../../kernel/app-error.ts'
import type { Accounts } from '../../../modules/accounts/accounts.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import type { People } from '../../../modules/people/people.ts'
import type { Projects } from '../../../modules/projects/projects.ts'
import type { Sessions } from '../../../modules/sessions/sessions.ts'
import type { Passkeys } from '../../../modules/passkeys/passkeys.ts'
import { orNull } from '../../../wires/nullable.ts'
import { parseWireId, wireId } from '../../../wires/organization-ids.ts'
import { Id, objectName, UuidId } from '../../../wires/usual-members.ts'
import { ANY_KEY } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { ConfirmMethods, listConfirmMethods } from './confirm-methods.ts'
import type { SignInProvider } from './sign-in-methods.ts'
import { requireSession, SessionAnswer, sessionToWire } from './sessions.ts'

interface CurrentSessionRouteOptions {
  readonly sessions: Sessions
  readonly accounts: Pick<Accounts, 'read'>
  readonly people: Pick<People, 'read'>
  readonly projects: Pick<Projects, 'read'>
  readonly passkeys: Pick<Passkeys, 'waysToConfirm'>
  readonly listSignInProviders: () => Promise<readonly SignInProvider[]>
  readonly publicUrl: string | null
}

const PROJECTS_MAX = 100

const NamedProject = Type.Object({
  id: Id,
  name: Type.String({ description: 'The name of the project.' }),
})

export const SessionPlace = {
  user: orNull(
    Type.Object({
      id: Id,
      email: Type.String({ description: 'The e-mail address.' }),
      name: orNull(Type.String(), 'As the person is called in this account.'),
      role: Type.String({ description: 'The role in the account.' }),
    }),
    'The person. Null if the key of the session belongs to the account itself.',
  ),
  project: orNull(NamedProject, 'The project that the session works in. Null for the whole account.'),
}

const CurrentSessionAnswer = Type.Object(
  {
    object: objectName('session.current'),
    id: UuidId,
    account: Type.Object(
      { id: Id, name: Type.String({ description: 'The name of the account.' }) },
      { description: 'The account of the session.' },
    ),
    ...SessionPlace,
    confirm_methods: ConfirmMethods,
    can_see_account: Type.Boolean({
      description: 'Whether `project_id: null` leads to the whole account instead of to a project.',
    }),
    projects: Type.Array(NamedProject, {
      description: `The projects that the session may continue in, by name, \`Default\` first. At most ${PROJECTS_MAX}.`,
    }),
    has_more_projects: Type.Boolean({ description: 'Whether there are more. `search` finds them.' }),
  },
  { title: 'CurrentSession' },
)

const CurrentSessionQuery = Type.Object({
  search: Type.Optional(
    Type.String({ maxLength: 200, description: 'Only projects whose names contain this, in any case.' }),
  ),
})

const ProjectBody = Type.Object(
  {
    project_id: orNull(
      Type.String({ maxLength: 100 }),
      'The project to continue in: `proj_…`. Null goes back to where the key of the session works.',
    ),
  },
  { additionalProperties: false, examples: [{ project_id: null }] },
)

/** Where the session of the request works, and how it gets elsewhere. */
export const currentSessionRoutes = (options: CurrentSessionRouteOptions): Route[] => [
  defineRoute({
    tag: 'Sessions',
    method: 'GET',
    path: '/v1/sessions/current',
    summary: 'Read the session of the request',
    access: ANY_KEY,
    query: CurrentSessionQuery,
    responses: {
      200: {
        description: 'Account, person, project and the projects to choose from.',
        schema: CurrentSessionAnswer,
      },
    },
    handle: async ({ caller, query, headers }) => {
      const id = requireSession(caller)
      const [account, place, confirmMethods, { projects, canSeeAccount }] = await Promise.all([
        options.accounts.read(caller.accountId),
        readSessionPlace(caller, options),
        listConfirmMethods(caller, headers, options),
        options.sessions.listProjects(caller, { search: query.search ?? '', limit: PROJECTS_MAX + 1 }),
      ])
      return {
        object: 'session.current',
        id,
        account: { id: wireId('organization', account.id), name: account.name },
        ...place,
        confirm_methods: confirmMethods,
        can_see_account: canSeeAccount,
        projects: projects.slice(0, PROJECTS_MAX).map(projectToWire),
        has_more_projects: projects.length > PROJECTS_MAX,
      }
    },
  }),
  defineRoute({
    tag: 'Sessions',
    method: 'POST',
    path: '/v1/sessions/project',
    summary: 'Continue the session in another project',
    access: ANY_KEY,
    body: ProjectBody,
    otherErrors: [404],
    responses: { 200: { description: 'The session.', schema: SessionAnswer } },
    handle: async ({ caller, body }) => {
      const id = requireSession(caller)
      const session = await options.sessions.continueInProject(caller, projectIdOf(body.project_id))
      return sessionToWire(session, id)
    },
  }),
]

/** Reads who the session is of and where it works. */
export async function readSessionPlace(
  { accountId, userId = null, projectId }: Caller,
  { people, projects }: Pick<CurrentSessionRouteOptions, 'people' | 'projects'>,
) {
  const [user, project] = await Promise.all([
    userId === null ? null : people.read(accountId, userId),
    projectId === null ? null : projects.read(accountId, projectId),
  ])
  return {
    user: user && { id: wireId('user', user.id), email: user.email, name: user.name, role: user.role },
    project: project && projectToWire(project),
  }
}

function projectToWire({ id, name }: { id: string; name: string }): Static<typeof NamedProject> {
  return { id: wireId('project', id), name }
}

function projectIdOf(text: string | null): string | null {
  const id = text === null ? null : parseWireId('project', text)
  if (text !== null && id === null) throw notFound('project')
  return id
}
