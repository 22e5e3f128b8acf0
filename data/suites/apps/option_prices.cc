// Options and their prices by several methods, with QuantLib: option_prices ROUNDS.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ql/exercise.hpp>
#include <ql/instruments/asianoption.hpp>
#include <ql/instruments/barrieroption.hpp>
#include <ql/instruments/vanillaoption.hpp>
#include <ql/methods/lattices/binomialtree.hpp>
#include <ql/models/equity/hestonmodel.hpp>
#include <ql/pricingengines/asian/mc_discr_arith_av_price.hpp>
#include <ql/pricingengines/barrier/analyticbarrierengine.hpp>
#include <ql/pricingengines/vanilla/analyticeuropeanengine.hpp>
#include <ql/pricingengines/vanilla/analytichestonengine.hpp>
#include <ql/pricingengines/vanilla/binomialengine.hpp>
#include <ql/pricingengines/vanilla/fdblackscholesvanillaengine.hpp>
#include <ql/pricingengines/vanilla/mceuropeanengine.hpp>
#include <ql/processes/blackscholesprocess.hpp>
#include <ql/processes/hestonprocess.hpp>
#include <ql/quotes/simplequote.hpp>
#include <ql/termstructures/volatility/equityfx/blackconstantvol.hpp>
#include <ql/termstructures/yield/flatforward.hpp>
#include <ql/time/calendars/nullcalendar.hpp>
#include <ql/time/daycounters/actual365fixed.hpp>

namespace ql = QuantLib;

namespace {

using Process = ql::ext::shared_ptr<ql::GeneralizedBlackScholesProcess>;

const ql::Date kToday(15, ql::May, 2020);

ql::Handle<ql::YieldTermStructure> flat(double rate) {
  return ql::Handle<ql::YieldTermStructure>(ql::ext::make_shared<ql::FlatForward>(kToday, rate, ql::Actual365Fixed()));
}

Process process_of(double spot, double volatility) {
  const ql::Handle<ql::BlackVolTermStructure> surface(
      ql::ext::make_shared<ql::BlackConstantVol>(kToday, ql::NullCalendar(), volatility, ql::Actual365Fixed()));
  const ql::Handle<ql::Quote> quote(ql::ext::make_shared<ql::SimpleQuote>(spot));
  return ql::ext::make_shared<ql::BlackScholesMertonProcess>(quote, flat(0.01), flat(0.03), surface);
}

double price(ql::Instrument&& instrument, const ql::ext::shared_ptr<ql::PricingEngine>& engine) {
  instrument.setPricingEngine(engine);
  return instrument.NPV();
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc == 2 ? std::atoi(argv[1]) : 0;
  if (rounds <= 0) {
    std::fprintf(stderr, "option_prices: expected a number of rounds\n");
    return 2;
  }
  ql::Settings::instance().evaluationDate() = kToday;
  const ql::Date end = kToday + 365;
  const auto european = ql::ext::make_shared<ql::EuropeanExercise>(end);
  const auto american = ql::ext::make_shared<ql::AmericanExercise>(kToday, end);
  double total = 0;
  double worst = 0;
  for (int round = 0; round < rounds; ++round) {
    const double strike = 90 + round % 20;
    const auto process = process_of(100, 0.2 + 0.01 * (round % 7));
    const auto put = ql::ext::make_shared<ql::PlainVanillaPayoff>(ql::Option::Put, strike);
    const auto exact =
        price(ql::VanillaOption(put, european), ql::ext::make_shared<ql::AnalyticEuropeanEngine>(process));
    const auto simulated = price(ql::VanillaOption(put, european), ql::MakeMCEuropeanEngine<ql::PseudoRandom>(process)
                                                                       .withSteps(10)
                                                                       .withSamples(4000)
                                                                       .withSeed(42)
                                                                       .withAntitheticVariate());
    worst = std::fmax(worst, std::fabs(simulated - exact) / exact);
    total += simulated;
    total += price(ql::VanillaOption(put, american),
                   ql::ext::make_shared<ql::FdBlackScholesVanillaEngine>(process, 100, 200));
    total += price(ql::VanillaOption(put, american),
                   ql::ext::make_shared<ql::BinomialVanillaEngine<ql::CoxRossRubinstein>>(process, 401));
    for (int i = 0; i < 50; ++i) {
      total += price(ql::BarrierOption(ql::Barrier::DownOut, 60 + 0.2 * i, 1, put, european),
                     ql::ext::make_shared<ql::AnalyticBarrierEngine>(process));
    }
    std::vector<ql::Date> fixings;
    for (int month = 1; month <= 12; ++month) fixings.push_back(kToday + 30 * month);
    total += price(ql::DiscreteAveragingAsianOption(ql::Average::Arithmetic, 0, 0, fixings, put, european),
                   ql::MakeMCDiscreteArithmeticAPEngine<ql::LowDiscrepancy>(process).withSamples(2047));
    const auto heston = ql::ext::make_shared<ql::HestonModel>(ql::ext::make_shared<ql::HestonProcess>(
        flat(0.03), flat(0.01), process->stateVariable(), 0.04, 1.5, 0.04, 0.4, -0.6));
    for (int i = 0; i < 20; ++i) {
      total += price(
          ql::VanillaOption(ql::ext::make_shared<ql::PlainVanillaPayoff>(ql::Option::Call, 80.0 + 2 * i), european),
          ql::ext::make_shared<ql::AnalyticHestonEngine>(heston, 96));
    }
  }
  std::printf("%.4f %.4f\n", total / rounds, worst);
  // Simulated prices are those of the formula, but for the error of a few thousand samples.
  return std::isfinite(total) && worst < 0.05 ? 0 : 1;
}
