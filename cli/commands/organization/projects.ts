import { readOrganizationPages } from '../../api/read-organization-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { commandGroup } from '../../command-group.ts'
import { EXIT } from '../../exit-codes.ts'
import { requireConsent } from '../../input/confirm.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { timestampOf } from '../../output/format-time.ts'
import { printable } from '../../output/printable.ts'
import { printPairs } from '../../output/tables/print-pairs.ts'
import { printTable } from '../../output/tables/print-table.ts'
import { findConnection } from '../../profile/find-connection.ts'
import { profilePath, readProfiles, writeProfiles } from '../../profile/profile-file.ts'

const at = (id: string) => ({ params: { path: { project_id: id } } })

const list = clientCommand<{ readonly limit: string; readonly all?: boolean }>({
  name: 'list',
  summary: 'List the projects of the account, newest first.',
  example: 'parkway projects',
  define: (command) =>
    command.option('--limit <number>', 'how many', '100').option('--all', 'also archived ones'),
  async act({ output, isJson, connect, printJsonLines }, { limit, all }) {
    const gateway = connect()
    const projects = await readOrganizationPages(parseWhole('--limit', limit), (query) =>
      gateway.call((routes) =>
        routes.GET('/v1/organization/projects', {
          params: { query: { ...query, include_archived: all === true } },
        }),
      ),
    )
    if (isJson) return printJsonLines(projects)
    printTable(
      output,
      [
        { title: 'id', of: ({ id }) => id, isId: true },
        { title: 'state', of: ({ status }) => status, rank: 4 },
        { title: 'made', of: (project) => timestampOf(project.created_at), isTime: true, rank: 5 },
        { title: 'name', of: ({ name }) => name, rank: 1, isText: true },
      ],
      projects,
    )
  },
})

const create = clientCommand({
  name: 'create',
  summary: 'Make a project and print its id.',
  example: 'parkway projects create Search',
  define: (command) => command.argument('<name>', 'a name for people'),
  async act({ output, isJson, connect, printJson }, _, name = '') {
    const body = { name }
    const project = await connect().call((routes) => routes.POST('/v1/organization/projects', { body }))
    if (isJson) return printJson(project)
    output.note(printable(`Made the project ${project.name}.`))
    output.line(printable(project.id))
  },
})

const show = clientCommand({
  name: 'show',
  summary: 'Show a project with its people and its service accounts.',
  example: 'parkway projects show 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<id>', 'the id of the project: proj_…'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const gateway = connect()
    const project = await gateway.call((routes) =>
      routes.GET('/v1/organization/projects/{project_id}', at(id)),
    )
    if (isJson) return printJson(project)
    const page = { params: { path: { project_id: id }, query: { limit: 100 } } }
    const [users, programs] = await Promise.all([
      gateway.call((routes) => routes.GET('/v1/organization/projects/{project_id}/users', page)),
      gateway.call((routes) => routes.GET('/v1/organization/projects/{project_id}/service_accounts', page)),
    ])
    printPairs(output, [
      ['id', project.id],
      ['name', project.name],
      ['state', project.status],
      ['made', output.time(timestampOf(project.created_at))],
      ...users.data.map(({ email, role }) => ['member', `${email} (${role})`] as const),
      ...programs.data.map(({ name, role }) => ['service account', `${name} (${role})`] as const),
    ])
  },
})

const rename = clientCommand({
  name: 'rename',
  summary: 'Change the name of a project.',
  example: 'parkway projects rename 01a1e900-0fc9-7eff-b14c-dd4471e0969d "Search and ads"',
  define: (command) => command.argument('<id>', 'the id of the project').argument('<name>', 'the new name'),
  async act({ output, isJson, connect, printJson }, _, id = '', name = '') {
    const body = { name }
    const project = await connect().call((routes) =>
      routes.POST('/v1/organization/projects/{project_id}', { ...at(id), body }),
    )
    if (isJson) return printJson(project)
    output.line(printable(`${project.id} is called ${project.name} now.`))
  },
})

const archive = clientCommand<{ readonly yes?: boolean }>({
  name: 'archive',
  summary: 'End all keys of a project for good. Its history stays.',
  example: 'parkway projects archive --yes 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<id>', 'the id of the project').option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { yes }, id = '') {
    const gateway = connect()
    const { name } = await gateway.call((routes) =>
      routes.GET('/v1/organization/projects/{project_id}', at(id)),
    )
    await requireConsent(printable(`Archive ${name}? Its keys end for good.`), yes === true)
    const project = await gateway.call((routes) =>
      routes.POST('/v1/organization/projects/{project_id}/archive', at(id)),
    )
    if (isJson) return printJson(project)
    output.line(printable(`Archived ${project.name}.`))
  },
})

const use = clientCommand({
  name: 'use',
  summary: 'Set the project that all requests of a profile name, or "none". It must be that of the key.',
  example: 'parkway projects use none',
  define: (command) => command.argument('<id>', 'the id of the project, or none'),
  async act({ output, isJson, profile, connectTo, printJson }, _, id = '') {
    const path = profilePath(process.env)
    const stored = readProfiles(path)
    const { profile: name, ...connection } = findConnection(profile, process.env, stored)
    const kept = name === null ? undefined : stored.profiles[name]
    if (name === null || kept === undefined)
      throw new CommandFailure(
        EXIT.usage,
        'The key comes from PARKWAY_API_KEY, not from a profile.',
        'Use --project.',
      )
    const projectId = id === 'none' ? null : id
    // A project that is not that of the key would refuse every request.
    await connectTo({ ...connection, profile: name, projectId }).call((routes) =>
      routes.GET('/v1/tenants/me'),
    )
    const { project_id: _before, ...others } = kept
    const changed = projectId === null ? others : { ...others, project_id: projectId }
    writeProfiles(path, { ...stored, profiles: { ...stored.profiles, [name]: changed } })
    if (isJson) return printJson({ profile: name, project_id: projectId })
    output.line(
      printable(
        projectId === null
          ? `The profile ${name} has no project now.`
          : `The profile ${name} works in ${projectId} now.`,
      ),
    )
  },
})

export const projects = commandGroup({
  name: 'projects',
  summary: 'List, make, change and archive projects of the account.',
  example: 'parkway projects',
  byDefault: list,
  others: [create, show, rename, archive, use],
})
