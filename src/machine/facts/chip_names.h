#pragma once
// Names that people use for processors and that these don't tell of themselves: one core of Arm is in chips of several
// makers, and one name may stand for machines that differ between cloud providers.

#include <string>
#include <string_view>
#include <vector>

namespace perfcast {

// The chip with this core that a provider rents out: "Neoverse-N1", "aws" -> "AWS Graviton2". Providers are named as
// Spare Cores does: aws, azure, gcp, alicloud, hcloud, ... Empty where it isn't known, as for every core that is no
// server's.
std::string chip_name(std::string_view core, std::string_view provider);

// The chip of Arm's cores that an instance type has by its provider's scheme of names: "aws", "m8g.xlarge" -> "AWS
// Graviton4". Empty where the name doesn't tell, as for machines with x86.
std::string chip_of_instance_type(std::string_view provider, std::string_view type);

// The provider whose machine this is, by what its firmware says of the maker ("Amazon EC2" -> "aws"); empty: unknown.
std::string provider_of_board(std::string_view maker);

// As people write it: "aws" -> "AWS", "gcp" -> "Google". An unknown one as it is.
std::string provider_title(std::string_view provider);

// The name of a CPU whose providers differ: "Intel(R) Xeon(R) Platinum 8280L CPU @ 2.70GHz", "aws" -> "Intel Xeon
// Platinum 8280L (AWS)".
std::string name_at_providers(std::string_view name, const std::vector<std::string>& providers);

// The name, then each wider one that it is a kind of: "Ampere Altra (Azure)", "Ampere Altra", "Neoverse-N1".
std::vector<std::string> wider_names(const std::string& name);

// What the machine says of itself: the widest of its names.
std::string told_name(const std::string& name);

// True where the names are one, or one of them is a wider name of the other, but for trade marks, clock and case:
// either may be the other's machine. False for two chips of one core.
bool may_be_one_cpu(const std::string& a, const std::string& b);

}  // namespace perfcast
