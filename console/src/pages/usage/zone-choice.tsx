import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { accountQuery, setTimeZone } from '../../api/account.ts'
import { describeFailure } from '../../api/api-error.ts'
import { useMay } from '../../api/permissions.ts'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { showToast } from '../../ui/overlays/toasts.tsx'

interface ZoneChoiceProps {
  /** Undefined for UTC. */
  readonly zone: string | undefined
  readonly onChange: (zone: string | undefined) => void
}

/** The time zone of a period: UTC, that of the account, that of the browser, or that of the address. */
export function ZoneChoice({ zone = 'UTC', onChange }: ZoneChoiceProps) {
  const queryClient = useQueryClient()
  const { data: account } = useQuery(accountQuery)
  const mayManage = useMay('projects.manage')
  const ofAccount = account?.time_zone ?? 'UTC'
  const keep = useMutation({
    mutationFn: () => setTimeZone(zone),
    onSuccess: async () => {
      showToast(`${zone} is the time zone of the account`)
      await queryClient.invalidateQueries({ queryKey: accountQuery.queryKey, exact: true })
    },
    onError: (error) => showToast(describeFailure(error).message),
  })
  const zones = [...new Set(['UTC', ofAccount, browserZone(), zone])]
  return (
    <>
      <SelectField
        label="Time zone of the period"
        isLabelHidden
        value={zone}
        choices={zones.map((value) => ({
          value,
          label: value === ofAccount ? `in ${value}, that of the account` : `in ${value}`,
        }))}
        onChange={(chosen) => onChange(chosen === 'UTC' ? undefined : chosen)}
      />
      {mayManage && !account?.session?.project && zone !== ofAccount && (
        <Button kind="quiet" isBusy={keep.isPending} onClick={() => keep.mutate()}>
          Make it that of the account
        </Button>
      )}
    </>
  )
}

function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}
