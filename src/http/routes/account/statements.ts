import { Type } from 'typebox'
import { invalidValue, notFound } from '../../../kernel/app-error.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import { parseMonth, type Statement, type Statements } from '../../../modules/statements/statements.ts'
import { parseWireId } from '../../../wires/organization-ids.ts'
import { inProject } from '../../access.ts'
import { listAnswer, listSchema, PAGE_LIMIT_DEFAULT } from '../../answers/list-page.ts'
import { sendCsv } from '../../answers/send-csv.ts'
import { printInThread } from '../../printed/print-in-thread.ts'
import { defineRoute, type ResponseDescription, type Route, type RouteRequest } from '../../route.ts'
import { writeFocusCsv } from './focus-file.ts'
import { fileNameOf, printedStatement, writeStatementCsv } from './statement-files.ts'
import { StatementAnswer, statementToWire, StatementSummaryAnswer, summaryToWire } from './statement-wire.ts'

const MONTHS_AT_ONCE_MAX = 120

const ProjectField = Type.Optional(
  Type.String({ maxLength: 64, description: 'The id of a project: only the charges of its keys.' }),
)

const StatementsQuery = Type.Object({
  project_id: ProjectField,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MONTHS_AT_ONCE_MAX,
      default: PAGE_LIMIT_DEFAULT,
      description: 'How many months at most.',
    }),
  ),
  after: Type.Optional(Type.String({ maxLength: 16, description: 'A cursor from `next_cursor`: a month.' })),
})

const MonthText = Type.String({ maxLength: 16, description: 'A month of UTC: `2026-10`.' })
const MonthParams = Type.Object({ month: MonthText })

export const FormatField = Type.Optional(
  Type.Enum(['json', 'csv', 'focus', 'pdf'], {
    default: 'json',
    description:
      'A file with every movement and charge (`csv`), the charges in the columns of FOCUS 1.2 (`focus`), a document to print (`pdf`), or JSON.',
  }),
)

const StatementQuery = Type.Object({ project_id: ProjectField, format: FormatField })

export interface StatementRouteParts {
  readonly statements: Statements
  readonly logger: Logger
}

export const STATEMENT_RESPONSE: ResponseDescription = {
  description: 'The statement.',
  schema: StatementAnswer,
  otherTypes: {
    'text/csv': Type.String({ description: 'One row a movement, and one a day, project, key and model.' }),
    'application/pdf': Type.String({ format: 'binary', description: 'The same to print.' }),
  },
}

export const statementRoutes = (parts: StatementRouteParts): Route[] => [
  defineRoute({
    method: 'GET',
    tag: 'Usage',
    path: '/v1/statements',
    access: inProject('usage.read'),
    summary: 'List the statements of the account',
    query: StatementsQuery,
    otherErrors: [404],
    responses: {
      200: { description: 'Newest month first.', schema: listSchema('statements', StatementSummaryAnswer) },
    },
    handle: async ({ caller, query }) => {
      const page = { limit: query.limit ?? PAGE_LIMIT_DEFAULT, after: parseAfter(query.after) }
      const months = await parts.statements.list(placeOf(caller, query.project_id), page)
      return listAnswer('statements', months, summaryToWire)
    },
  }),
  defineRoute({
    method: 'GET',
    tag: 'Usage',
    path: '/v1/statements/:month',
    access: inProject('usage.read'),
    summary: 'Read the statement of a month',
    params: MonthParams,
    query: StatementQuery,
    otherErrors: [404, 503],
    responses: { 200: STATEMENT_RESPONSE },
    handle: async (request) => {
      const { caller, params, query } = request
      const place = placeOf(caller, query.project_id)
      const statement = await parts.statements.read(place, params.month)
      const seesMovements = caller.permissions.has('billing.manage')
      return sendStatement(parts, request, { statement, place, seesMovements, format: query.format })
    },
  }),
]

interface SentStatement {
  readonly statement: Statement
  readonly place: Place
  readonly seesMovements: boolean
  readonly format: string | undefined
}

/** Answers with the statement in the form that was asked for. */
export async function sendStatement(
  { statements, logger }: StatementRouteParts,
  { reply, exchange: { cancellation } }: Pick<RouteRequest<unknown, unknown, unknown>, 'reply' | 'exchange'>,
  { statement, place, seesMovements, format = 'json' }: SentStatement,
): Promise<unknown> {
  if (format === 'json') return statementToWire(statement, { seesMovements })
  if (format === 'csv' || format === 'focus') {
    const rows = statements.walkRows(place, statement)
    const isFocus = format === 'focus'
    const pieces = isFocus
      ? writeFocusCsv(statement, rows)
      : writeStatementCsv(statement, rows, { seesMovements })
    const name = fileNameOf(statement, isFocus ? 'focus.csv' : 'csv')
    return sendCsv(reply, { name, pieces, logger, cancellation })
  }
  const bytes = await printInThread(printedStatement(statement, { seesMovements }), place.accountId)
  reply
    .header('content-type', 'application/pdf')
    .header('content-disposition', `attachment; filename="${fileNameOf(statement, 'pdf')}"`)
    .header('cache-control', 'no-store')
  return reply.send(bytes)
}

/** A caller of a project sees its statements only. Another project is like one that does not exist. */
type Place = Pick<Caller, 'accountId' | 'projectId'>

function placeOf({ accountId, projectId }: Place, asked: string | undefined): Place {
  if (asked === undefined) return { accountId, projectId }
  const id = parseWireId('project', asked)
  if (id === null) throw invalidValue('project_id', 'project_id must be the id of a project.')
  if (projectId !== null && projectId !== id) throw notFound('project')
  return { accountId, projectId: id }
}

function parseAfter(after: string | undefined) {
  if (after === undefined) return null
  const month = parseMonth(after)
  if (month === null)
    throw invalidValue('after', 'after must be a cursor from the next_cursor of an earlier page.')
  return month
}
