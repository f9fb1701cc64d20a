// SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Alert } from '../protocol/types';

/** How many alerts the run that is shown has, and whether one of them is an error. */
export const alertsNow = signal<{ count: number; error: boolean }>({ count: 0, error: false });

/** To be called as a hook by whoever holds the alerts. */
export function alertCount(alerts: Alert[] | null): void {
  useEffect(() => {
    alertsNow.value = { count: alerts?.length ?? 0, error: alerts?.some((one) => one.severity === 'error') ?? false };
  }, [alerts]);
}
