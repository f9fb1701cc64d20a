// SPDX-License-Identifier: Apache-2.0
import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/shell.css';
import './styles/overview.css';
import './styles/curves.css';
import './styles/views.css';
import './styles/insights.css';
import './styles/timeline.css';
import { App } from './app';
import { startPlace } from './state/place';
import { startSession } from './state/session';
import { startKeys } from './ui/keys';
import { startTheme } from './ui/theme';

startTheme();
startPlace();
startKeys();
startSession();
render(<App />, document.getElementById('page')!);
