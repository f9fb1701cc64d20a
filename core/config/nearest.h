#pragma once

#include "messages/nearest.h"
