import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { msOf } from '../../api/organization-pages.ts'
import {
  changeIssuer,
  deleteIssuer,
  trustIssuer,
  type Exchange,
  type TrustedIssuer,
} from '../../api/trusted-issuers.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { showToast } from '../../ui/overlays/toasts.tsx'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { Time } from '../../ui/text/time.tsx'
import { examplesOf } from './exchange-examples.ts'
import { IssuerFields } from './issuer-fields.tsx'
import { draftOf, explainRefusal, formOf, type IssuerForm } from './issuer-form.ts'
import { formOfTemplate, ISSUER_TEMPLATES, type TemplateName } from './issuer-templates.ts'

const KINDS = Object.entries(ISSUER_TEMPLATES).map(([value, { label }]) => ({
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the table
  value: value as TemplateName,
  label,
}))

interface NewIssuerSheetProps {
  readonly projectId: string
  readonly onMade: (issuer: TrustedIssuer) => void
  readonly onClose: () => void
}

/** Trusts an issuer, beginning with what is usual for its kind. */
export function NewIssuerSheet({ projectId, onMade, onClose }: NewIssuerSheetProps) {
  const [kind, setKind] = useState<TemplateName>('github')
  const [form, setForm] = useState<IssuerForm>(() => formOfTemplate('github', ''))
  const choose = (name: TemplateName): void => {
    setKind(name)
    setForm(formOfTemplate(name, form.rules[0]?.serviceAccountId ?? ''))
  }
  return (
    <Sheet title="Trust an issuer" isOpen onClose={onClose} side="right">
      <div className="flex flex-col gap-4">
        <SelectField
          label="Kind"
          value={kind}
          choices={KINDS}
          hint={ISSUER_TEMPLATES[kind].hint}
          onChange={choose}
        />
        <EditIssuer
          projectId={projectId}
          form={form}
          action="Trust the issuer"
          save={(draft) => trustIssuer(projectId, draft)}
          onChange={(change) => setForm({ ...form, ...change })}
          onSaved={onMade}
        />
      </div>
    </Sheet>
  )
}

interface IssuerSheetProps {
  readonly projectId: string
  readonly issuer: TrustedIssuer
  /** Null where the session does not see them. */
  readonly exchanges: readonly Exchange[] | null
  readonly canChange: boolean
  readonly onClose: () => void
}

/** One issuer: what machines need of it, what it was used for, its settings and its end. */
export function IssuerSheet({ projectId, issuer, exchanges, canChange, onClose }: IssuerSheetProps) {
  const queryClient = useQueryClient()
  const [form, setForm] = useState(() => formOf(issuer))
  const [isDeleting, setIsDeleting] = useState(false)
  return (
    <Sheet title={issuer.name} isOpen onClose={onClose} side="right">
      <div className="flex flex-col gap-6">
        <div className="flex flex-col gap-2">
          <h3 className="text-sm font-medium">How a machine uses it</h3>
          <p className="text-sm text-ink-soft">
            It sends its own token, and the id of this issuer as the audience. The id is no secret.
          </p>
          <CopyableId id={issuer.id} label="id of the issuer" />
          {examplesOf(issuer).map(({ label, language, code }) => (
            <div key={label} className="flex flex-col gap-1">
              <p className="text-xs font-medium text-ink-soft">{label}</p>
              <CodeBlock label={label} language={language} code={code} />
            </div>
          ))}
        </div>
        {exchanges !== null && <Exchanges exchanges={exchanges} />}
        <fieldset disabled={!canChange} className="flex min-w-0 flex-col gap-4 border-t border-line pt-4">
          <EditIssuer
            projectId={projectId}
            form={form}
            action="Save"
            save={(draft) => changeIssuer(projectId, issuer.id, draft)}
            onChange={(change) => setForm({ ...form, ...change })}
            onSaved={({ name }) => showToast('The issuer is changed', name)}
            onDelete={() => setIsDeleting(true)}
          />
        </fieldset>
      </div>
      {isDeleting && (
        <ConfirmDialog
          title={`Trust ${issuer.name} no longer?`}
          description="Its tokens are refused at once. Access tokens that were made with them live on until they expire, at most an hour; delete the service account to end them now."
          action="Delete the issuer"
          onConfirm={async () => {
            await deleteIssuer(projectId, issuer.id)
            await queryClient.invalidateQueries({ queryKey: ['projects', projectId, 'trusted-issuers'] })
            onClose()
          }}
          onClose={() => setIsDeleting(false)}
        />
      )}
    </Sheet>
  )
}

interface EditIssuerProps {
  readonly projectId: string
  readonly form: IssuerForm
  readonly action: string
  readonly save: (draft: ReturnType<typeof draftOf>) => Promise<TrustedIssuer>
  readonly onChange: (change: Partial<IssuerForm>) => void
  readonly onSaved: (issuer: TrustedIssuer) => void
  readonly onDelete?: () => void
}

function EditIssuer({ projectId, form, action, save, onChange, onSaved, onDelete }: EditIssuerProps) {
  const queryClient = useQueryClient()
  const saving = useMutation({
    mutationFn: async () => save(draftOf(form)),
    onSuccess: async (issuer) => {
      await queryClient.invalidateQueries({ queryKey: ['projects', projectId, 'trusted-issuers'] })
      onSaved(issuer)
    },
  })
  const isIncomplete =
    form.algorithms.length === 0 || form.rules.some(({ serviceAccountId }) => serviceAccountId === '')
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        saving.mutate()
      }}
    >
      <IssuerFields projectId={projectId} form={form} onChange={onChange} />
      {saving.error && (
        <ErrorPanel title="The issuer could not be saved" error={explainRefusal(saving.error)} />
      )}
      <div className="flex flex-wrap justify-between gap-3">
        <Button kind="primary" type="submit" isBusy={saving.isPending} disabled={isIncomplete}>
          {action}
        </Button>
        {onDelete && (
          <Button kind="danger" onClick={onDelete}>
            Delete
          </Button>
        )}
      </div>
    </form>
  )
}

const EXCHANGES_SHOWN_MAX = 5

function Exchanges({ exchanges }: { readonly exchanges: readonly Exchange[] }) {
  return (
    <div className="flex flex-col gap-2">
      <h3 className="text-sm font-medium">Last exchanges</h3>
      {exchanges.length === 0 && (
        <p className="text-sm text-ink-soft">
          None yet. If a machine is refused, compare the claims of its token with the rules below.
        </p>
      )}
      <ul className="flex flex-col divide-y divide-line">
        {exchanges.slice(0, EXCHANGES_SHOWN_MAX).map(({ id, atSeconds, subject }) => (
          <li key={id} className="flex items-center justify-between gap-4 py-1.5 text-sm">
            <span className="min-w-0 truncate font-mono text-xs" title={subject ?? ''}>
              {subject ?? 'without sub'}
            </span>
            <Time at={msOf(atSeconds)} />
          </li>
        ))}
      </ul>
    </div>
  )
}
